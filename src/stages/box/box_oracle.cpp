#include <algorithm>

#include "stages/box/box.hpp"

namespace stereopsis::box {

void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages) {
  const int area = p.window_width * p.window_height;
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k) {
        std::int64_t sum = 0;
        for (int dy = -p.radius_y(); dy <= p.radius_y(); ++dy)
          for (int dx = -p.radius_x(); dx <= p.radius_x(); ++dx)
            sum += costs(std::clamp(x + dx, 0, costs.width - 1), std::clamp(y + dy, 0, costs.height - 1), k);
        averages(x, y, k) = static_cast<std::uint16_t>((128 * sum + area / 2) / area);
      }
}

}  // namespace stereopsis::box
