#include <algorithm>
#include <vector>

#include "stages/multiple_windows/multiple_windows.hpp"

namespace stereopsis::multiple_windows {
namespace {

int average(const Parameters& p, VolumeView<const std::uint8_t> costs, int x, int y, int k) {
  const int r = p.radius(), area = p.window * p.window;
  int sum = 0;
  for (int v = y - r; v <= y + r; ++v)
    for (int u = x - r; u <= x + r; ++u)
      sum += costs(std::clamp(u, 0, costs.width - 1), std::clamp(v, 0, costs.height - 1), k);
  return (128 * sum + area / 2) / area;
}

}  // namespace

void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated) {
  const int width = costs.width, height = costs.height, count = p.counted();
  for (int k = 0; k < costs.disparities; ++k) {
    Image<int> averages(Size{width, height});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) averages(x, y) = average(p, costs, x, y, k);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        std::vector<int> beside;
        for (int i = 0; i < p.supports(); ++i)
          beside.push_back(averages(std::clamp(x + directions[i].dx * p.radius(), 0, width - 1),
                                    std::clamp(y + directions[i].dy * p.radius(), 0, height - 1)));
        std::sort(beside.begin(), beside.end());
        int sum = averages(x, y);
        for (int i = 0; i < count - 1; ++i) sum += beside[i];
        aggregated(x, y, k) = static_cast<std::uint16_t>((sum + count / 2) / count);
      }
  }
}

}  // namespace stereopsis::multiple_windows
