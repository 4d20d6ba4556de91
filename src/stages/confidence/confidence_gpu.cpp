#include "device/gpu/device.hpp"
#include "stages/confidence/confidence.hpp"

namespace stereopsis::confidence {

void gpu(const Parameters& p, const window_sad::Window& window, const window_sad::Source<gpu::View>& source,
         gpu::View<const float> disparity, gpu::View<float> confidence, gpu::Queue& queue) {
  queue.launch({"confidence", "confidence", window_sad::instance_of(window)}, gpu::over(disparity.size()),
               static_cast<int>(p.measure), window.radius_x(), window.radius_y(), source.left, source.right, disparity,
               confidence);
}

}  // namespace stereopsis::confidence
