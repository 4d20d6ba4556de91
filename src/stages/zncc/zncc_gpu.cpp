#include <limits>

#include "core/rounding.hpp"
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

// The same values as in the kernels.
constexpr int lanes = 32, strip = 24, near_radius = 16;
constexpr int steps = 16;  // number of rows or columns along which a work-item moves the window of a view

}  // namespace

GpuCosts::GpuCosts(const Parameters& p, gpu::View<const std::int16_t> left, gpu::View<const std::int16_t> right,
                   int bits, int min_disparity, gpu::Span scratch)
    : p_(p),
      views_{left, right},
      instance_(bits != 8                   ? "wide"
                : p.radius() <= near_radius ? "near"
                                            : "far"),
      min_disparity_(min_disparity) {
  const std::size_t before = scratch.bytes;
  const std::size_t width = left.width, height = left.height, pixels = (width + 2 * p.radius()) * height;
  moments_ = scratch.take(width * height * 2 * sizeof(std::int64_t)).as<std::int64_t>();
  for (int view = 0; view < 2; ++view)
    windows_[view] = scratch.take(pixels * (view == 0 ? 4 : 2) * sizeof(std::uint32_t)).as<std::uint32_t>();
  scratch_bytes_ = before - scratch.bytes;
}

void GpuCosts::describe_windows(gpu::Queue& queue) const {
  const int width = views_[0].width, height = views_[0].height, radius = p_.radius();
  const float one_over_n = 1.0f / static_cast<float>(p_.pixels());
  for (int view = 0; view < 2; ++view) {
    queue.launch({"zncc_costs", "moments", instance_}, gpu::over(Size{width, ceil_div(height, steps)}), views_[view],
                 moments_, radius, steps);
    queue.launch({"zncc_costs", "windows", instance_}, gpu::over(Size{ceil_div(width + 2 * radius, steps), height}),
                 moments_, windows_[view], view == 0 ? 1 : 0, width, height, radius, steps, one_over_n);
  }
}

void GpuCosts::correlate(int first_row, gpu::Volume<std::uint16_t> costs, gpu::Queue& queue) const {
  // Few rows share running sums, because starting the sums takes less time than a device loses with too few groups.
  const int band = std::max(16, p_.window);
  const int groups = ceil_div(costs.width, strip) * ceil_div(costs.disparities, lanes);
  queue.launch({"zncc_costs", "costs", instance_}, {groups, ceil_div(costs.height, band), lanes, 1}, views_[0],
               views_[1], windows_[0], windows_[1], costs.cells, costs.disparities, min_disparity_, p_.radius(), band,
               first_row, costs.height);
}

std::size_t gpu_scratch_bytes(const Parameters& p, Size size) {
  const gpu::View<const std::int16_t> view{0, 0, size.width, size.height, 1, size.width};
  return GpuCosts(p, view, view, 8, 0, {0, 0, std::numeric_limits<std::size_t>::max()}).scratch_bytes();
}

void gpu(const Parameters& p, gpu::View<const std::int16_t> left, gpu::View<const std::int16_t> right, int bits,
         int min_disparity, gpu::Volume<std::uint16_t> costs, gpu::Span scratch, gpu::Queue& queue) {
  const GpuCosts correlation(p, left, right, bits, min_disparity, scratch);
  correlation.describe_windows(queue);
  correlation.correlate(0, costs, queue);
}

void mark_flat_gpu(const Parameters& p, gpu::View<const std::int16_t> left, gpu::View<std::uint8_t> validity,
                   gpu::Queue& queue) {
  queue.launch({"zncc_costs", "mark_flat", "near"}, gpu::over(validity.size()), left, validity, p.radius());
}

}  // namespace stereopsis::zncc
