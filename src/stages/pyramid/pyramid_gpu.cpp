#include "device/gpu/device.hpp"
#include "stages/pyramid/pyramid.hpp"

namespace stereopsis::pyramid {

void gpu(const Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
         const Input<gpu::View>& in, const Output<gpu::View>& out, gpu::Queue& queue) {
  queue.launch({"pyramid", "refine", window_sad::instance_of(window)}, gpu::over(out.disparity.size()), in.reference,
               in.other, in.direction, in.mask_reference, in.mask_other, in.range.min, in.range.max(), in.guess,
               p.range, p.keep_256(), window.radius_x(), window.radius_y(), static_cast<int>(select.subpixel),
               select.border_candidates ? 1 : 0, out.disparity, out.validity, out.confidence);
}

}  // namespace stereopsis::pyramid
