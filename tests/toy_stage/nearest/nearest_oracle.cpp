#include "nearest.hpp"

namespace stereopsis::nearest {

void oracle(const Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      if (disparity(x, y) < static_cast<float>(p.least)) {
        disparity(x, y) = invalid_disparity;
        validity(x, y) |= validity::ambiguous;
      }
}

}  // namespace stereopsis::nearest
