#include <cmath>

#include "stages/subpixel/subpixel.hpp"

namespace stereopsis::subpixel {

void oracle(const Parameters&, VolumeView<const std::uint16_t> costs, int min_disparity, ImageView<float> disparity) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const float whole = std::floor(disparity(x, y) + 0.5f);
      const float index = whole - static_cast<float>(min_disparity);
      if (!(index >= 1 && index + 1 < static_cast<float>(costs.disparities))) continue;
      const int k = static_cast<int>(index);
      const int a = costs(x, y, k - 1), b = costs(x, y, k), c = costs(x, y, k + 1);
      const int curvature = a - 2 * b + c;
      if (b > a || b > c || curvature == 0) continue;
      disparity(x, y) = whole - static_cast<float>(c - a) / static_cast<float>(2 * curvature);
    }
}

}  // namespace stereopsis::subpixel
