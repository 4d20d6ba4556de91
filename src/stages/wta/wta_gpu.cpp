#include "device/gpu/device.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::wta {

void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::Volume<const std::uint16_t> costs,
         const OutputOf<gpu::View>& out, gpu::Queue& queue) {
  const gpu::Grid grid = gpu::over(Size{costs.width, costs.height});
  queue.launch({"wta", "left", "any"}, grid, costs.cells, costs.disparities, in.min_disparity, in.mask_left,
               in.mask_right, out.disparity, out.validity, out.confidence, static_cast<int>(p.subpixel), p.uniqueness,
               p.border_candidates ? 1 : 0);
  if (!out.right.empty())
    queue.launch({"wta", "right", "any"}, grid, costs.cells, costs.disparities, in.min_disparity, in.mask_left,
                 in.mask_right, out.right);
}

}  // namespace stereopsis::wta
