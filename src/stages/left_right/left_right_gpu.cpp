#include "device/gpu/device.hpp"
#include "stages/left_right/left_right.hpp"

namespace stereopsis::left_right {

void gpu(const Parameters& p, gpu::View<const float> right, gpu::View<float> disparity,
         gpu::View<std::uint8_t> validity, gpu::Queue& queue) {
  check_sizes(right, disparity);
  queue.launch({"left_right", "left_right", "any"}, gpu::over(disparity.size()), right, disparity, validity,
               static_cast<float>(p.threshold), p.compare == Compare::same ? 1 : 0);
}

}  // namespace stereopsis::left_right
