#include "device/consistent_validity.hpp"

#include <cmath>

#include "device/gpu/device.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis {

void make_consistent(ImageView<float> disparity, ImageView<std::uint8_t> validity) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const bool has_reason = (validity(x, y) & validity::reasons) != 0;
      if (std::isfinite(disparity(x, y)) && !has_reason) continue;
      disparity(x, y) = invalid_disparity;
      if (!has_reason) validity(x, y) |= validity::ambiguous;
    }
}

void make_consistent(gpu::View<float> disparity, gpu::View<std::uint8_t> validity, gpu::Queue& queue) {
  if (disparity.width == 0) return;
  queue.launch({"consistent_validity", "consistent_validity", "any"}, gpu::over(disparity.size()), disparity, validity);
}

}  // namespace stereopsis
