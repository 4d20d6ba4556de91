#include <algorithm>

#include "stages/shiftable/shiftable.hpp"
#include "stages/window_mean/window_mean_oracle.hpp"

namespace stereopsis::shiftable {
void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest) {
  const int r = p.radius(), width = costs.width, height = costs.height;
  for (int k = 0; k < costs.disparities; ++k) {
    Image<int> averages(Size{width, height});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) averages(x, y) = window_mean::mean({p.radius(), p.radius()}, costs, x, y, k);
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
