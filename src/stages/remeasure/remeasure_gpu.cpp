#include "device/gpu/device.hpp"
#include "stages/remeasure/remeasure.hpp"

namespace stereopsis::remeasure {

void gpu(const Parameters& p, const InputOf<gpu::View>& in, DisparityRange range, gpu::View<float> disparity,
         gpu::View<std::uint8_t> validity, gpu::Queue& queue) {
  queue.launch({"remeasure", "remeasure", "any"}, gpu::over(disparity.size()), in.left, in.right, in.confidence,
               disparity, validity, static_cast<float>(p.confidence), static_cast<float>(p.tolerance), range.min,
               range.max());
}

}  // namespace stereopsis::remeasure
