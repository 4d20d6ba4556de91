#include "stages/colour_difference/colour_difference.hpp"

namespace stereopsis::colour_difference {

void oracle(const Parameters& p, ImageView<const std::uint32_t> left, ImageView<const std::uint32_t> right,
            int min_disparity, VolumeView<std::uint8_t> costs) {
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k)
        costs(x, y, k) = static_cast<std::uint8_t>(cost(p, left(x, y), right.clamped(x - min_disparity - k, y)));
}

}  // namespace stereopsis::colour_difference
