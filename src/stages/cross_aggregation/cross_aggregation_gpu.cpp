#include <algorithm>
#include <limits>

#include "device/gpu/device.hpp"
#include "stages/cross_aggregation/cross_aggregation.hpp"

namespace stereopsis::cross_aggregation {
namespace {

struct Scratch {
  Scratch(Size size, int disparities, gpu::Span memory) {
    const std::size_t before = memory.bytes, cells = static_cast<std::size_t>(size.width) * size.height * disparities;
    running = memory.take(sizeof(std::uint16_t) * cells).as<std::uint16_t>();
    across = memory.take(sizeof(std::uint32_t) * cells).as<std::uint32_t>();
    counts = memory.take(sizeof(std::uint16_t) * cells).as<std::uint16_t>();
    bytes = before - memory.bytes;
  }

  gpu::Array<std::uint16_t> running, counts;
  gpu::Array<std::uint32_t> across;
  std::size_t bytes;
};

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities) {
  constexpr gpu::Span unlimited{0, 0, std::numeric_limits<std::size_t>::max()};
  return Scratch(size, disparities, unlimited).bytes;
}

void gpu(const Parameters& p, const ArmsOf<gpu::View>& arms, int min_disparity, gpu::Volume<std::uint8_t> costs,
         gpu::Span memory, gpu::Queue& queue) {
  check_images(p, arms);
  const int width = costs.width, height = costs.height, count = costs.disparities;
  const Scratch s({width, height}, count, memory);
  const gpu::View<const std::uint32_t> right =
      p.support == Support::both ? arms.right : gpu::View<const std::uint32_t>();
  const gpu::Grid row = gpu::over(width * count), cells{row.groups_x, height, row.items_x, 1};
  const auto lines = [&](int along_row) { return gpu::over((along_row ? height : width) * count); };
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    const int first = iteration % 2 == 0 ? 1 : 0, second = 1 - first;  // 1 means that the pass goes along rows
    queue.launch({"cross_aggregation", "run", "any"}, lines(first), costs.cells, s.running, width, height, count,
                 first);
    queue.launch({"cross_aggregation", "run_across", "any"}, lines(second), arms.left, right, s.running, s.across,
                 s.counts, count, min_disparity, second);
    queue.launch({"cross_aggregation", "divide_sums", "any"}, cells, arms.left, right, s.across, s.counts, costs.cells,
                 count, min_disparity, second);
  }
}

}  // namespace stereopsis::cross_aggregation
