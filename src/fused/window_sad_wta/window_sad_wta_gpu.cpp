#include "device/gpu/device.hpp"
#include "fused/window_sad_wta/window_sad_wta.hpp"

namespace stereopsis::window_sad_wta {

std::size_t gpu_workspace_bytes(Size size, int disparities) {
  return sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities;
}

void gpu(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
         gpu::Queue& queue) {
  const Size size = in.source.left.size();
  const gpu::Volume<std::uint16_t> sums{workspace.as<std::uint16_t>(), size.width, size.height, in.disparities};
  window_sad::gpu(p.window, in.source, in.select.min_disparity, sums, queue);
  wta::gpu(p.select, in.select, sums, out, queue);
}

}  // namespace stereopsis::window_sad_wta
