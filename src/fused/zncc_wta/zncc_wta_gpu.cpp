#include <algorithm>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "fused/zncc_wta/zncc_wta.hpp"

namespace stereopsis::zncc_wta {
namespace {

// The workspace holds the statistics of the windows, followed by the costs of a band of rows. Bands have about the same
// number of rows.
int rows_of_band(Size size, int disparities) {
  constexpr std::size_t band_bytes = std::size_t{256} << 20;
  const std::size_t row_bytes = sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(disparities);
  const int most = static_cast<int>(std::clamp<std::size_t>(band_bytes / row_bytes, 1, size.height));
  return ceil_div(size.height, ceil_div(size.height, most));
}

}  // namespace

std::size_t gpu_workspace_bytes(const Parameters& p, Size size, int disparities) {
  check(disparities);
  return zncc::gpu_scratch_bytes(p.zncc, size) +
         sizeof(std::uint16_t) * size.width * rows_of_band(size, disparities) * static_cast<std::size_t>(disparities);
}

void gpu(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
         gpu::Queue& queue) {
  check(in.disparities);
  const int width = in.left.width, height = in.left.height, min = in.select.min_disparity;
  const zncc::GpuCosts correlation(p.zncc, in.left, in.right, in.bits, min, workspace);
  workspace.take(correlation.scratch_bytes());
  const auto costs = workspace.as<std::uint16_t>();
  correlation.describe_windows(queue);
  const int band = rows_of_band(in.left.size(), in.disparities);
  for (int first = 0; first < height; first += band) {
    const int rows = std::min(band, height - first);
    const gpu::Volume<std::uint16_t> volume{costs, width, rows, in.disparities};
    correlation.correlate(first, volume, queue);
    wta::gpu(p.select, {min, in.select.mask_left.rows(first, rows), in.select.mask_right.rows(first, rows)}, volume,
             {out.disparity.rows(first, rows), out.validity.rows(first, rows), out.right.rows(first, rows),
              out.confidence.rows(first, rows)},
             queue);
  }
  zncc::mark_flat_gpu(p.zncc, in.left, out.validity, queue);
}

}  // namespace stereopsis::zncc_wta
