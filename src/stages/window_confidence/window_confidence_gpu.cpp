#include "device/gpu/device.hpp"
#include "stages/window_confidence/window_confidence.hpp"

namespace stereopsis::window_confidence {

void gpu(const Parameters& p, const window_sad::Window& window, const window_sad::Source<gpu::View>& source,
         gpu::View<const float> disparity, gpu::View<float> confidence, gpu::Queue& queue) {
  queue.launch({"window_confidence", "window_confidence", window_sad::instance_of(window)}, gpu::over(disparity.size()),
               static_cast<int>(p.measure), window.radius_x(), window.radius_y(), source.left, source.right, disparity,
               confidence);
}

}  // namespace stereopsis::window_confidence
