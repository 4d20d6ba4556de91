#include "device/gpu/device.hpp"
#include "stages/triangulate/triangulate.hpp"

namespace stereopsis::triangulate {

void gpu(const Parameters& p, const InputOf<gpu::View>& in, const OutputOf<gpu::View>& out, gpu::Queue& queue) {
  check(p, in, out);
  const Constants k(p, !in.confidence.empty());
  queue.launch({"triangulate", "triangulate", "any"}, gpu::over(in.disparity.size()), in.disparity, in.validity,
               in.confidence, out.depth, out.points, out.uncertainty, k.depth_scale, k.offset, k.inverse_focal,
               k.first_x, k.first_y, k.step, k.half_baseline, k.error_scale, static_cast<int>(k.head));
}

}  // namespace stereopsis::triangulate
