#include "device/cpu/threads.hpp"
#include "stages/cross_scale/cross_scale.hpp"

namespace stereopsis::cross_scale {

void cpu_halve(ImageView<const std::uint8_t> image, ImageView<std::uint8_t> halved, Threads& threads) {
  const int channels = image.channels, whole = image.width / 2;
  threads.rows(halved.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      const std::uint8_t* upper = image.row(2 * y);
      const std::uint8_t* lower = image.row(std::min(2 * y + 1, image.height - 1));
      std::uint8_t* out = halved.row(y);
      const auto average = [&](int c, int right) {
        return static_cast<std::uint8_t>((upper[c] + upper[c + right] + lower[c] + lower[c + right] + 2) / 4);
      };
      for (int x = 0; x < whole; ++x, upper += 2 * channels, lower += 2 * channels)
        for (int c = 0; c < channels; ++c) *out++ = average(c, channels);
      if (whole < halved.width)
        for (int c = 0; c < channels; ++c) *out++ = average(c, 0);
    }
  });
}

void cpu_combine(const Level& level, float weight, float coarse_weight, VolumeView<const float> coarse,
                 VolumeView<float> costs, Threads& threads) {
  const int step = 1 << level.s;
  threads.rows(costs.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < costs.width; ++x) {
        float* fine = costs.pixel(x, y);
        const float* other = coarse.pixel(x >> level.s, ((level.first_row + y) >> level.s) - level.coarse_first_row);
        // Processes runs of disparities that have the same coarse disparity.
        for (int k = 0; k < costs.disparities;) {
          const int d = level.min_disparity + k, d_s = at_level(d, level.s, level.from_right);
          const int behind = level.from_right ? (d_s + 1) * step : d_s * step + 1;
          const int end = std::min(behind - level.min_disparity, costs.disparities);
          const float added = coarse_weight * other[d_s - level.coarse_min_disparity];
          for (; k < end; ++k) fine[k] = weight * fine[k] + added;
        }
      }
  });
}

}  // namespace stereopsis::cross_scale
