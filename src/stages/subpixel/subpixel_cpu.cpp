#include <cmath>

#include "device/cpu/threads.hpp"
#include "stages/subpixel/subpixel.hpp"

namespace stereopsis::subpixel {

void cpu(const Parameters&, VolumeView<const std::uint16_t> costs, int min_disparity, ImageView<float> disparity,
         Threads& threads) {
  const auto end = static_cast<float>(costs.disparities);
  threads.rows(disparity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      float* const row = disparity.row(y);
      for (int x = 0; x < disparity.width; ++x) {
        const float whole = std::floor(row[x] + 0.5f), index = whole - static_cast<float>(min_disparity);
        if (!(index >= 1 && index + 1 < end)) continue;
        const std::uint16_t* const at = costs.pixel(x, y) + static_cast<int>(index);
        const int below = at[-1] - at[0], above = at[1] - at[0];
        if (below < 0 || above < 0 || below + above == 0) continue;
        row[x] = whole - static_cast<float>(above - below) / static_cast<float>(2 * (below + above));
      }
    }
  });
}

}  // namespace stereopsis::subpixel
