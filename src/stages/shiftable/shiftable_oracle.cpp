#include <algorithm>

#include "stages/shiftable/shiftable.hpp"

namespace stereopsis::shiftable {
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

void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest) {
  const int r = p.radius(), width = costs.width, height = costs.height;
  for (int k = 0; k < costs.disparities; ++k) {
    Image<int> averages(Size{width, height});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) averages(x, y) = average(p, costs, x, y, k);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int least = averages(x, y);
        for (int v = std::max(0, y - r); v <= std::min(height - 1, y + r); ++v)
          for (int u = std::max(0, x - r); u <= std::min(width - 1, x + r); ++u)
            least = std::min(least, averages(u, v));
        lowest(x, y, k) = static_cast<std::uint16_t>(least);
      }
  }
}

}  // namespace stereopsis::shiftable
