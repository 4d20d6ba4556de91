#include "device/gpu/device.hpp"
#include "stages/slic/slic.hpp"

namespace stereopsis::slic {

std::size_t gpu_scratch_bytes(const Parameters& p, Size size) {
  return 5 * sizeof(std::int32_t) * static_cast<std::size_t>(Cells(size, p.cell).count());
}

void gpu(const Parameters& p, gpu::View<const std::uint32_t> rgb, gpu::View<std::uint32_t> segments, gpu::Span scratch,
         gpu::Queue& queue) {
  check(rgb.size());
  const Cells cells(rgb.size(), p.cell);
  const auto centres = scratch.as<std::int32_t>();
  const auto kernel = [](const char* name) { return gpu::Kernel{"slic", name, "any"}; };
  queue.launch(kernel("begin"), gpu::over(Size{cells.columns, cells.rows}), rgb, centres, p.cell, cells.columns,
               cells.rows);
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    if (iteration > 0)
      queue.launch(kernel("move"), {cells.columns, cells.rows, 32, 8}, rgb, segments, centres, p.cell, cells.columns,
                   cells.rows);
    queue.launch(kernel("assign"), gpu::over(rgb.size()), rgb, segments, centres, p.cell, cells.columns, cells.rows,
                 p.compactness);
  }
}

}  // namespace stereopsis::slic
