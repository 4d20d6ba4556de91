#include <limits>

#include "device/gpu/device.hpp"
#include "fused/zncc_wta/zncc_wta.hpp"

namespace stereopsis::zncc_wta {
namespace {

constexpr std::size_t band_bytes = std::size_t{256} << 20;  // of the costs and sums that are there at a time
constexpr int steps = 16;  // rows or columns along which a work-item moves a window of a view
constexpr int run = 128;   // columns along which it moves a window of products

// What the workspace holds: moments and windows of both views, and for a band of rows column sums and costs.
struct Layout {
  Layout(Size size, int radius, int bits, int disparities, gpu::Span memory) {
    const std::size_t before = memory.bytes;
    const std::size_t pixels = static_cast<std::size_t>(size.width) * size.height;
    const std::size_t windows = (static_cast<std::size_t>(size.width) + 2 * radius) * size.height;
    const std::size_t cells = static_cast<std::size_t>(size.width) * disparities;
    const std::size_t column_cells = (static_cast<std::size_t>(size.width) + 2 * radius) * disparities;
    const std::size_t sum_bytes = bits == 8 ? sizeof(std::int32_t) : sizeof(std::int64_t);
    const std::size_t row_bytes = column_cells * sum_bytes + cells * sizeof(std::uint16_t);
    band = static_cast<int>(std::clamp<std::size_t>(band_bytes / row_bytes, 1, size.height));
    moments = memory.take(pixels * 2 * sizeof(std::int64_t)).as<std::int64_t>();
    for (int view = 0; view < 2; ++view) {
      sums[view] = memory.take(windows * sizeof(std::int32_t)).as<std::int32_t>();
      roots[view] = memory.take(windows * sizeof(float)).as<float>();
    }
    columns = memory.take(column_cells * band * sum_bytes);
    costs = memory.take(cells * band * sizeof(std::uint16_t)).as<std::uint16_t>();
    bytes = before - memory.bytes;
  }

  int band;  // rows
  gpu::Array<std::int64_t> moments;
  gpu::Array<std::int32_t> sums[2];
  gpu::Array<float> roots[2];
  gpu::Span columns;
  gpu::Array<std::uint16_t> costs;
  std::size_t bytes;
};

template <class T>
gpu::View<T> rows_of(gpu::View<T> image, int first, int rows) {
  if (image.empty()) return image;
  image.offset += first * image.pitch;
  image.height = rows;
  return image;
}

template <class Sum>
void match(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, const Layout& layout,
           gpu::Queue& queue) {
  const int width = in.left.width, height = in.left.height, radius = p.zncc.radius(), n = in.disparities;
  const int min = in.select.min_disparity;
  const float one_over_n = 1.0f / static_cast<float>(p.zncc.pixels());
  const char* instance = sizeof(Sum) == 4 ? "narrow" : "wide";
  const auto blocks = [](int count, int size) { return (count + size - 1) / size; };
  for (int view = 0; view < 2; ++view) {
    queue.launch({"zncc_wta", "moments", instance}, gpu::over(Size{width, blocks(height, steps)}),
                 view == 0 ? in.left : in.right, layout.moments, radius, steps);
    queue.launch({"zncc_wta", "windows", instance}, gpu::over(Size{blocks(width + 2 * radius, steps), height}),
                 layout.moments, layout.sums[view], layout.roots[view], width, height, radius, steps, one_over_n);
  }
  const gpu::Array<Sum> columns = layout.columns.as<Sum>();
  for (int first = 0; first < height; first += layout.band) {
    const int rows = std::min(layout.band, height - first);
    queue.launch({"zncc_wta", "columns", instance}, gpu::over(Size{n, width + 2 * radius}), in.left, in.right, columns,
                 n, min, radius, first, rows, layout.band - 1);
    queue.launch({"zncc_wta", "costs", instance}, gpu::over(Size{n, rows * blocks(width, run)}), columns,
                 layout.sums[0], layout.roots[0], layout.sums[1], layout.roots[1], layout.costs, width, n, min, radius,
                 first, rows, run, one_over_n);
    const wta::OutputOf<gpu::View> band{rows_of(out.disparity, first, rows), rows_of(out.validity, first, rows),
                                        rows_of(out.right, first, rows), rows_of(out.confidence, first, rows)};
    wta::gpu(p.select, {min, rows_of(in.select.mask_left, first, rows), rows_of(in.select.mask_right, first, rows)},
             {layout.costs, width, rows, n}, band, queue);
    queue.launch({"zncc_wta", "mark_flat", instance}, gpu::over(Size{width, rows}), layout.roots[0], band.validity,
                 radius, first);
  }
}

}  // namespace

std::size_t gpu_workspace_bytes(const Parameters& p, Size size, int bits, int disparities) {
  check(disparities);
  return Layout(size, p.zncc.radius(), bits, disparities, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
         gpu::Queue& queue) {
  check(in.disparities);
  const Layout layout(in.left.size(), p.zncc.radius(), in.bits, in.disparities, workspace);
  if (in.bits == 8)
    match<std::int32_t>(p, in, out, layout, queue);
  else
    match<std::int64_t>(p, in, out, layout, queue);
}

}  // namespace stereopsis::zncc_wta
