#include "stages/cross_scale/cross_scale.hpp"

namespace stereopsis::cross_scale {

void oracle_halve(ImageView<const std::uint8_t> image, ImageView<std::uint8_t> halved) {
  for (int y = 0; y < halved.height; ++y)
    for (int x = 0; x < halved.width; ++x)
      for (int c = 0; c < image.channels; ++c)
        halved(x, y, c) = static_cast<std::uint8_t>(
            (image.clamped(2 * x, 2 * y, c) + image.clamped(2 * x + 1, 2 * y, c) + image.clamped(2 * x, 2 * y + 1, c) +
             image.clamped(2 * x + 1, 2 * y + 1, c) + 2) /
            4);
}

void oracle_combine(const Level& level, float weight, float coarse_weight, VolumeView<const float> coarse,
                    VolumeView<float> costs) {
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k) {
        const int row = ((level.first_row + y) >> level.s) - level.coarse_first_row;
        const int index = at_level(level.min_disparity + k, level.s, level.from_right) - level.coarse_min_disparity;
        costs(x, y, k) = weight * costs(x, y, k) + coarse_weight * coarse(x >> level.s, row, index);
      }
}

}  // namespace stereopsis::cross_scale
