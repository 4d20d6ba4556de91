#include <algorithm>

#include "device/gpu/device.hpp"
#include "fused/window_sad_wta/window_sad_wta.hpp"

namespace stereopsis::window_sad_wta {
namespace {

std::size_t row_bytes(int width, int disparities) {
  return sizeof(std::uint16_t) * width * static_cast<std::size_t>(disparities);
}

}  // namespace

std::size_t gpu_workspace_bytes(Size size, int disparities, bool rarely) {
  const std::size_t enough = std::size_t{1} << (rarely ? 24 : 29);  // 2²⁹ bytes are enough work for a large GPU
  const std::size_t row = row_bytes(size.width, disparities), rows = std::max<std::size_t>(1, enough / row);
  return row * std::min(rows, static_cast<std::size_t>(size.height));
}

void gpu(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
         gpu::Queue& queue) {
  const Size size = in.source.left.size();
  const std::size_t fitting = workspace.bytes / row_bytes(size.width, in.disparities);
  const int band = static_cast<int>(std::min(fitting, static_cast<std::size_t>(size.height)));
  for (int first = 0; first < size.height; first += band) {
    const int rows = std::min(band, size.height - first);
    const gpu::Volume<std::uint16_t> sums{workspace.as<std::uint16_t>(), size.width, rows, in.disparities};
    window_sad::gpu(p.window, in.source, in.select.min_disparity, first, sums, queue);
    wta::gpu(p.select,
             {in.select.min_disparity, in.select.mask_left.rows(first, rows), in.select.mask_right.rows(first, rows)},
             sums,
             {out.disparity.rows(first, rows), out.validity.rows(first, rows), out.right.rows(first, rows),
              out.confidence.rows(first, rows)},
             queue);
  }
}

}  // namespace stereopsis::window_sad_wta
