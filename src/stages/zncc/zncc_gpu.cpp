#include <limits>

#include "device/gpu/device.hpp"
#include "stages/zncc/zncc.hpp"

namespace stereopsis::zncc {

template <class T>
void samples_gpu(gpu::View<const T> grey, int bit_depth, gpu::View<std::int16_t> samples, gpu::Queue& queue) {
  queue.launch({"zncc", "samples", gpu::instance_of<T>()}, gpu::over(samples.size()), grey, samples, bit_depth);
}

template void samples_gpu(gpu::View<const std::uint8_t>, int, gpu::View<std::int16_t>, gpu::Queue&);
template void samples_gpu(gpu::View<const std::uint16_t>, int, gpu::View<std::int16_t>, gpu::Queue&);
template void samples_gpu(gpu::View<const float>, int, gpu::View<std::int16_t>, gpu::Queue&);

namespace {

constexpr std::size_t band_bytes = std::size_t{256} << 20;  // memory for the costs and sums of a band of rows
constexpr int steps = 16;  // number of rows or columns along which a work-item moves the window of a view
constexpr int run = 128;   // number of columns along which a work-item moves a window of products

int blocks(int count, int size) { return (count + size - 1) / size; }

}  // namespace

GpuBands::GpuBands(const Parameters& p, gpu::View<const std::int16_t> left, gpu::View<const std::int16_t> right,
                   int bits, int min_disparity, int disparities, gpu::Span scratch)
    : p_(p), views_{left, right}, bits_(bits), min_disparity_(min_disparity), disparities_(disparities) {
  const std::size_t before = scratch.bytes;
  const std::size_t width = left.width, height = left.height, columns = width + 2 * p.radius();
  const std::size_t sum_bytes = bits == 8 ? sizeof(std::int32_t) : sizeof(std::int64_t);
  const std::size_t row_bytes = columns * disparities * sum_bytes + width * disparities * sizeof(std::uint16_t);
  rows_ = static_cast<int>(std::clamp<std::size_t>(band_bytes / row_bytes, 1, height));
  moments_ = scratch.take(width * height * 2 * sizeof(std::int64_t)).as<std::int64_t>();
  for (int view = 0; view < 2; ++view) {
    sums_[view] = scratch.take(columns * height * sizeof(std::int32_t)).as<std::int32_t>();
    roots_[view] = scratch.take(columns * height * sizeof(float)).as<float>();
  }
  columns_ = scratch.take(columns * disparities * rows_ * sum_bytes);
  scratch_bytes_ = before - scratch.bytes;
}

const char* GpuBands::instance() const { return bits_ == 8 ? "narrow" : "wide"; }

void GpuBands::describe_windows(gpu::Queue& queue) const {
  const int width = views_[0].width, height = views_[0].height, radius = p_.radius();
  const float one_over_n = 1.0f / static_cast<float>(p_.pixels());
  for (int view = 0; view < 2; ++view) {
    queue.launch({"zncc_costs", "moments", instance()}, gpu::over(Size{width, blocks(height, steps)}), views_[view],
                 moments_, radius, steps);
    queue.launch({"zncc_costs", "windows", instance()}, gpu::over(Size{blocks(width + 2 * radius, steps), height}),
                 moments_, sums_[view], roots_[view], width, height, radius, steps, one_over_n);
  }
}

void GpuBands::correlate(int first, gpu::Volume<std::uint16_t> costs, gpu::Queue& queue) const {
  const int width = costs.width, radius = p_.radius(), n = disparities_;
  const float one_over_n = 1.0f / static_cast<float>(p_.pixels());
  const auto launch = [&](const auto& columns) {
    queue.launch({"zncc_costs", "columns", instance()}, gpu::over(Size{n, width + 2 * radius}), views_[0], views_[1],
                 columns, n, min_disparity_, radius, first, costs.height, rows_ - 1);
    queue.launch({"zncc_costs", "costs", instance()}, gpu::over(Size{n, costs.height * blocks(width, run)}), columns,
                 sums_[0], roots_[0], sums_[1], roots_[1], costs.cells, width, n, min_disparity_, radius, first,
                 costs.height, run, one_over_n);
  };
  if (bits_ == 8)
    launch(columns_.as<std::int32_t>());
  else
    launch(columns_.as<std::int64_t>());
}

std::size_t gpu_scratch_bytes(const Parameters& p, Size size, int bits, int disparities) {
  const gpu::View<const std::int16_t> view{0, 0, size.width, size.height, 1, size.width};
  return GpuBands(p, view, view, bits, 0, disparities, {0, 0, std::numeric_limits<std::size_t>::max()}).scratch_bytes();
}

void gpu(const Parameters& p, gpu::View<const std::int16_t> left, gpu::View<const std::int16_t> right, int bits,
         int min_disparity, gpu::Volume<std::uint16_t> costs, gpu::Span scratch, gpu::Queue& queue) {
  const GpuBands bands(p, left, right, bits, min_disparity, costs.disparities, scratch);
  bands.describe_windows(queue);
  for (int first = 0; first < costs.height; first += bands.rows()) {
    gpu::Volume<std::uint16_t> band = costs;
    band.height = std::min(bands.rows(), costs.height - first);
    band.cells.offset += static_cast<std::int64_t>(first) * costs.width * costs.disparities;
    bands.correlate(first, band, queue);
  }
}

void mark_flat_gpu(const Parameters& p, gpu::View<const std::int16_t> left, gpu::View<std::uint8_t> validity,
                   gpu::Queue& queue) {
  queue.launch({"zncc_costs", "mark_flat", "narrow"}, gpu::over(validity.size()), left, validity, p.radius());
}

}  // namespace stereopsis::zncc
