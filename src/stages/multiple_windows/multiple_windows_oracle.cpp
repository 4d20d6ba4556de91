#include <algorithm>
#include <vector>

#include "stages/multiple_windows/multiple_windows.hpp"
#include "stages/window_mean/window_mean_oracle.hpp"

namespace stereopsis::multiple_windows {
void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated) {
  const int width = costs.width, height = costs.height, count = p.counted();
  for (int k = 0; k < costs.disparities; ++k) {
    Image<int> averages(Size{width, height});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) averages(x, y) = window_mean::mean({p.radius(), p.radius()}, costs, x, y, k);
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
