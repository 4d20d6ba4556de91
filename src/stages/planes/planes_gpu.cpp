#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/planes/planes.hpp"

namespace stereopsis::planes {
namespace {

constexpr int sums = 12, facts = 5, box = 4, plane = 5;  // integers of a segment; the same values as in planes.cl

std::size_t bytes_of(std::size_t count) { return (sizeof(std::int32_t) * count + 255) / 256 * 256; }

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int cell) {
  const auto cells = static_cast<std::size_t>(slic::Cells(size, cell).count());
  return bytes_of(static_cast<std::size_t>(size.width) * size.height) + bytes_of(cells * sums) +
         bytes_of(cells * facts) + bytes_of(cells * box) + bytes_of(cells * plane);
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, DisparityRange range, gpu::View<std::uint32_t> planes,
         gpu::Span scratch, gpu::Queue& queue) {
  const Size size = planes.size();
  const slic::Cells cells(size, p.cell);
  const auto count = static_cast<std::size_t>(cells.count());
  const auto take = [&](std::size_t n) { return scratch.take(sizeof(std::int32_t) * n).as<std::int32_t>(); };
  const auto points = take(static_cast<std::size_t>(size.width) * size.height), sums_of = take(count * sums),
             facts_of = take(count * facts), boxes = take(count * box), planes_of = take(count * plane);
  const auto kernel = [](const char* name) { return gpu::Kernel{"planes", name, "any"}; };
  queue.launch(kernel("points"), gpu::over(size), in.disparity, in.validity, in.confidence, points,
               static_cast<float>(p.confidence), range.min, range.count);
  for (int round = 0; round < rounds; ++round) {
    queue.launch(kernel("sum"), {cells.columns, ceil_div(cells.rows, 4), 32, 4}, in.segments, in.rgb, points, planes_of, sums_of,
                 facts_of, boxes, p.cell, cells.columns, cells.rows, round, tolerances[round]);
    queue.launch(kernel("fit"), {cells.columns, ceil_div(cells.rows, 4), 32, 4}, sums_of, facts_of, planes_of,
                 cells.columns, cells.rows, p.cell, round, p.similar, p.weight);
  }
  queue.launch(kernel("write"), gpu::over(size), in.segments, planes_of, planes, cells.columns, p.cell, range.count);
}

}  // namespace stereopsis::planes
