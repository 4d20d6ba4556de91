#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/belief_propagation/belief_propagation.hpp"

namespace stereopsis::belief_propagation {
namespace {

struct There {
  There(const Level& level, gpu::Span scratch)
      : size(level.size),
        costs(at(scratch, level.costs).as<std::uint16_t>()),
        messages(at(scratch, level.messages).as<std::uint16_t>()),
        waiting(at(scratch, level.waiting).as<std::uint8_t>()) {}

  static gpu::Span at(gpu::Span scratch, std::size_t bytes) {
    scratch.offset += static_cast<std::int64_t>(bytes);
    return scratch;
  }

  Size size;
  gpu::Array<std::uint16_t> costs, messages;
  gpu::Array<std::uint8_t> waiting;
};

// Returns a grid with one work-item per cell.
gpu::Grid cells_of(Size size, int disparities) {
  gpu::Grid grid = gpu::over(size.width * disparities);
  grid.groups_y = size.height;
  return grid;
}

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size, int disparities) {
  return Pyramid(p, size, disparities).bytes;
}

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span scratch,
         gpu::Queue& queue) {
  check(p);
  const int count = costs.disparities;
  std::vector<There> levels;
  for (const Level& level : Pyramid(p, {costs.width, costs.height}, count).levels) levels.emplace_back(level, scratch);
  const auto kernel = [](const char* name) { return gpu::Kernel{"belief_propagation", name, "any"}; };
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto [width, height] = levels[l].size;
    if (l == 0)
      queue.launch(kernel("widen"), cells_of(levels[l].size, count), costs.cells, levels[l].costs, width, height,
                   count);
    else
      queue.launch(kernel("halve"), cells_of(levels[l].size, count), levels[l - 1].costs, levels[l].costs,
                   levels[l - 1].size.width, levels[l - 1].size.height, width, height, count);
  }
  const int items = std::clamp((count + 31) / 32 * 32, 32, 128);
  for (std::size_t l = levels.size(); l-- > 0;) {
    const There& level = levels[l];
    const There& coarse = levels[std::min(l + 1, levels.size() - 1)];
    const auto [width, height] = level.size;
    queue.launch(kernel("begin"), cells_of(level.size, count), coarse.messages, level.messages, level.waiting,
                 l + 1 < levels.size() ? coarse.size.width : 0, coarse.size.height, width, height, count);
    for (int turn = 0; turn < 2 * p.iterations; ++turn)
      queue.launch(kernel("pass_messages"), {(width + 1) / 2, height, items, 1}, level.costs, level.messages,
                   level.waiting, width, height, count, turn, p.slope, p.truncation, reach(p, count), p.convergence);
  }
  queue.launch(kernel("add"), cells_of(levels[0].size, count), levels[0].costs, levels[0].messages, sums.cells,
               costs.width, costs.height, count);
}

}  // namespace stereopsis::belief_propagation
