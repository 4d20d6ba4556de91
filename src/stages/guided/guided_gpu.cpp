#include <algorithm>
#include <limits>

#include "device/gpu/device.hpp"
#include "stages/guided/guided.hpp"

namespace stereopsis::guided {
namespace {

constexpr int segment = 64;              // the same value as in guided.cl
constexpr int disparities_at_once = 32;  // limits the memory

// The grid has `along` work-items for each segment of `length` pixels.
gpu::Grid pieces(long long along, int length) {
  constexpr int items = 128;
  return {static_cast<int>((along + items - 1) / items), (length + segment - 1) / segment, items, 1};
}

struct Scratch {
  Scratch(Size size, int channels, int disparities, gpu::Span memory) {
    const std::size_t before = memory.bytes, pixels = static_cast<std::size_t>(size.width) * size.height;
    const std::size_t sums = pixels * (channels + 1) * std::min(disparities, disparities_at_once);
    const std::size_t guide_sums = pixels * (channels + channels * (channels + 1) / 2);
    columns = memory.take(sizeof(std::int32_t) * std::max(sums, guide_sums)).as<std::int32_t>();
    coefficients = memory.take(sizeof(std::int32_t) * sums).as<std::int32_t>();
    statistics = memory.take(sizeof(float) * pixels * statistics_count(channels)).as<float>();
    bytes = before - memory.bytes;
  }

  gpu::Array<std::int32_t> columns, coefficients;
  gpu::Array<float> statistics;
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters&, Size size, int channels, int disparities) {
  return Scratch(size, channels, disparities, {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void gpu(const Parameters& p, gpu::View<const std::uint8_t> guide, gpu::Volume<const std::uint8_t> costs, Rows rows,
         gpu::Volume<float> filtered, gpu::Span memory, gpu::Queue& queue) {
  check_shapes(guide, costs, rows, filtered);
  const int width = guide.width, height = guide.height, r = p.radius;
  const Scratch s(guide.size(), guide.channels, costs.disparities, memory);
  const FixedPoint factor = fixed_point(p, guide.channels);
  const char* const instance = guide.channels == 3 ? "colour" : "grey";
  const auto kernel = [&](const char* name) { return gpu::Kernel{"guided", name, instance}; };

  const Rows around{std::max(rows.first - r, 0), std::min(rows.last + r, height)};
  queue.launch(kernel("guide_columns"), pieces(width, around.count()), guide, s.columns, width, r, around.first,
               around.last);
  queue.launch(kernel("statistics"), pieces(around.count(), width), s.columns, s.statistics, width, height, r,
               static_cast<float>(p.epsilon), around.first, around.last);
  for (int k = 0; k < costs.disparities; k += disparities_at_once) {
    const int count = std::min(disparities_at_once, costs.disparities - k);
    const long long columns = static_cast<long long>(width) * count;
    queue.launch(kernel("cost_columns"), pieces(columns, around.count()), guide, costs.cells, s.columns, width,
                 costs.disparities, k, count, r, around.first, around.last);
    queue.launch(kernel("coefficients"), pieces(static_cast<long long>(around.count()) * count, width), s.columns,
                 s.statistics, s.coefficients, width, around.count(), count, r, factor.a, factor.b);
    queue.launch(kernel("coefficient_columns"), pieces(columns, rows.count()), s.coefficients, s.columns, width, height,
                 count, r, around.first, rows.first, rows.last);
    queue.launch(kernel("filter"), pieces(static_cast<long long>(rows.count()) * count, width), guide, s.columns,
                 s.statistics, filtered.cells, width, costs.disparities, k, count, r, around.first, rows.first,
                 rows.last, 1 / factor.a, 1 / factor.b);
  }
}

}  // namespace stereopsis::guided
