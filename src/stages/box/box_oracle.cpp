#include "stages/box/box.hpp"
#include "stages/window_mean/window_mean_oracle.hpp"

namespace stereopsis::box {

void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages) {
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k)
        averages(x, y, k) = static_cast<std::uint16_t>(window_mean::mean({p.radius_x(), p.radius_y()}, costs, x, y, k));
}

}  // namespace stereopsis::box
