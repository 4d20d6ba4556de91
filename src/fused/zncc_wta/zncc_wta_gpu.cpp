#include <limits>

#include "device/gpu/device.hpp"
#include "fused/zncc_wta/zncc_wta.hpp"

namespace stereopsis::zncc_wta {
namespace {

// The workspace holds the inputs of the costs, followed by the costs of a band of rows.
std::size_t band_bytes(Size size, int rows, int disparities) {
  return sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(rows) * disparities;
}

template <class T>
gpu::View<T> rows_of(gpu::View<T> image, int first, int rows) {
  if (image.empty()) return image;
  image.offset += first * image.pitch;
  image.height = rows;
  return image;
}

}  // namespace

std::size_t gpu_workspace_bytes(const Parameters& p, Size size, int bits, int disparities) {
  check(disparities);
  const gpu::View<const std::int16_t> view{0, 0, size.width, size.height, 1, size.width};
  const zncc::GpuBands bands(p.zncc, view, view, bits, 0, disparities, {0, 0, std::numeric_limits<std::size_t>::max()});
  return bands.scratch_bytes() + band_bytes(size, bands.rows(), disparities);
}

void gpu(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
         gpu::Queue& queue) {
  check(in.disparities);
  const int width = in.left.width, height = in.left.height, min = in.select.min_disparity;
  const zncc::GpuBands bands(p.zncc, in.left, in.right, in.bits, min, in.disparities, workspace);
  workspace.take(bands.scratch_bytes());
  const auto costs = workspace.as<std::uint16_t>();
  bands.describe_windows(queue);
  for (int first = 0; first < height; first += bands.rows()) {
    const int rows = std::min(bands.rows(), height - first);
    const gpu::Volume<std::uint16_t> band{costs, width, rows, in.disparities};
    bands.correlate(first, band, queue);
    wta::gpu(p.select, {min, rows_of(in.select.mask_left, first, rows), rows_of(in.select.mask_right, first, rows)},
             band,
             {rows_of(out.disparity, first, rows), rows_of(out.validity, first, rows), rows_of(out.right, first, rows),
              rows_of(out.confidence, first, rows)},
             queue);
  }
  zncc::mark_flat_gpu(p.zncc, in.left, out.validity, queue);
}

}  // namespace stereopsis::zncc_wta
