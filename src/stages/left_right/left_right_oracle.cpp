#include <cmath>

#include "stages/left_right/left_right.hpp"

namespace stereopsis::left_right {

void oracle(const Parameters& p, ImageView<const float> right, ImageView<float> disparity,
            ImageView<std::uint8_t> validity) {
  check_sizes(right, disparity);
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const float d = disparity(x, y);
      if (std::isnan(d)) continue;
      const double x_right = p.compare == Compare::same ? x : x - static_cast<double>(std::floor(d + 0.5f));
      const bool inside = x_right >= 0 && x_right < right.width;
      if (inside && std::abs(d - right(static_cast<int>(x_right), y)) <= static_cast<float>(p.threshold)) continue;
      disparity(x, y) = invalid_disparity;
      validity(x, y) |= validity::left_right;
    }
}

}  // namespace stereopsis::left_right
