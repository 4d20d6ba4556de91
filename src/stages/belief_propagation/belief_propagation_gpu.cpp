#include <algorithm>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/belief_propagation/belief_propagation.hpp"
#include "stages/belief_propagation/belief_propagation_cuda_problem.hpp"

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

bool tuned_serves(const Parameters& p, Size size, int disparities, int cuda_capability) {
  return gpu::runs(tunings, cuda_capability) && p.truncation <= largest_tuned_truncation && p.convergence == 0 &&
         disparities <= most_cells && size.height <= gpu::most_cuda_groups_y;
}

// Returns the largest difference of disparities at which a message costs less than the truncation.
int tuned_reach(const Parameters& p, int disparities) {
  return std::min((p.truncation - 1) / p.slope, disparities - 1);
}

// The pyramid of the tuned kernels. By the checkerboard colour of a pixel, it stores costs of 8 bits on the finest
// level and of 16 bits on the others, and four messages of 8 bits.
struct TunedPyramid {
  TunedPyramid(const Parameters& p, Size size, int disparities) {
    const std::size_t chunks = ceil_div(disparities, cells);
    const auto take = [&](std::size_t count) {
      const std::size_t at = bytes;
      bytes += (count + 255) / 256 * 256;
      return static_cast<std::int64_t>(at);
    };
    for (int l = 0; l < p.levels; ++l, size = half(size)) {
      const std::size_t all = 2 * static_cast<std::size_t>(half(size).width) * size.height * chunks * cells;
      const std::int64_t costs = take(l == 0 ? all : 2 * all), messages = take(4 * all);
      levels.push_back({costs, messages, size.width, size.height});
    }
  }

  CudaLevel above(std::size_t l) const { return l + 1 < levels.size() ? levels[l + 1] : CudaLevel{}; }

  std::vector<CudaLevel> levels;
  std::size_t bytes = 0;
};

CudaProblem tuned_problem(const Parameters& p, int disparities) {
  CudaProblem problem{};
  problem.disparities = disparities;
  problem.chunks = ceil_div(disparities, cells);
  while (1 << problem.lanes_log2 < problem.chunks) ++problem.lanes_log2;
  problem.lanes = 1 << problem.lanes_log2;
  problem.slope = p.slope;
  problem.truncation = p.truncation;
  problem.rounds = ceil_div(tuned_reach(p, disparities), cells / 2);
  return problem;
}

gpu::Kernel tuned_kernel(const char* name, bool finest) {
  return {"belief_propagation_cuda", name, finest ? "u8" : "u16"};
}

void tuned(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums,
           gpu::Span memory, gpu::Queue& queue) {
  const TunedPyramid pyramid(p, {costs.width, costs.height}, costs.disparities);
  const auto scratch = memory.as<std::uint8_t>();
  CudaProblem problem = tuned_problem(p, costs.disparities);
  const auto look_at = [&](std::size_t l) {
    problem.level = pyramid.levels[l];
    problem.coarse = pyramid.above(l);
  };
  const int threads = gpu::pick(tunings, queue.properties()).threads;
  // The grid has threads for every second column.
  const auto over = [&](int threads_of_pixel, int rows) {
    return gpu::Grid{ceil_div((problem.level.width + 1) / 2 * threads_of_pixel, threads), rows, threads, 1};
  };
  for (std::size_t l = 0; l == 0 || l + 1 < pyramid.levels.size(); ++l) {
    look_at(l);
    const gpu::Grid grid = over(problem.chunks, (problem.level.height + 1) / 2);
    if (l == 0)
      queue.launch(tuned_kernel("order", true), grid, costs.cells, scratch, problem);
    else
      queue.launch(tuned_kernel("halve", false), grid, scratch, problem);
  }
  const char* const pass_messages = tuned_reach(p, costs.disparities) <= 1 ? "pass_messages_near" : "pass_messages_far";
  for (std::size_t l = pyramid.levels.size(); l-- > 0;) {
    look_at(l);
    for (int turn = 0; turn < 2 * p.iterations; ++turn) {
      const bool is_last = l == 0 && turn + 1 == 2 * p.iterations;
      queue.launch(tuned_kernel(pass_messages, l == 0), over(problem.lanes, problem.level.height), scratch,
                   is_last ? sums.cells : gpu::Array<std::uint16_t>{}, problem, turn);
    }
  }
  queue.launch(tuned_kernel("add", true), over(problem.lanes, problem.level.height), scratch, sums.cells, problem);
}

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size, int disparities, int cuda_capability) {
  if (tuned_serves(p, size, disparities, cuda_capability)) return TunedPyramid(p, size, disparities).bytes;
  return Pyramid(p, size, disparities).bytes;
}

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span scratch,
         gpu::Queue& queue) {
  check(p);
  const int count = costs.disparities;
  if (tuned_serves(p, {costs.width, costs.height}, count, queue.cuda_capability()))
    return tuned(p, costs, sums, scratch, queue);
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
