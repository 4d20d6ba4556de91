#include <algorithm>
#include <limits>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/cross_aggregation/cross_aggregation.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/address.hpp"
#include "stages/cross_aggregation/cross_aggregation_cuda_problem.hpp"
#endif

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

#ifdef STEREOPSIS_CUDA
Problem problem_of(Size size, int width_beyond, int disparities, gpu::Capability capability) {
  const int chunk = gpu::pick(tunings, capability).chunk();
  Problem p{};
  p.width = size.width + width_beyond;
  p.view_width = size.width;
  p.height = size.height;
  p.disparities = disparities;
  p.padded = (disparities + group - 1) / group * group;
  p.left_pitch_words = p.width + chunk;
  p.table_pitch = (p.width + p.padded + chunk) / 2 + 1;
  return p;
}

// Returns whether the tuned kernels are used. The disparities must fill a third of the lanes. With fewer disparities,
// the portable kernels are equally fast.
bool is_tuned(int cuda_capability, const Problem& p, int longest_arm) {
  return gpu::runs(tunings, cuda_capability) && longest_arm <= reach && 3 * p.disparities >= p.padded &&
         p.height <= gpu::most_cuda_groups_y && 2LL * p.width * p.padded <= std::numeric_limits<std::int32_t>::max();
}

// Assigns scratch memory to the arrays of the tuned kernels, and returns the size of the memory in bytes.
std::size_t place(Problem& p, gpu::Span memory, gpu::Capability capability) {
  const int chunk = gpu::pick(tunings, capability).chunk();
  const std::size_t before = memory.bytes, height = p.height, rows = height + 4 * chunk;
  const auto take = [&]<class T>(T*& to, std::size_t count) {
    to = address(memory.take(sizeof(T) * count).template as<T>());
  };
  for (int i = 0; i < 2; ++i) {
    take(p.left_reach[i], rows * p.left_pitch_words);
    take(p.right_reach[i], 2 * rows * p.table_pitch);
  }
  take(p.sums, (height + chunk) * p.width * p.padded);
  return before - memory.bytes;
}

void tuned(const Parameters& parameters, const ArmsOf<gpu::View>& arms, int min_disparity,
           gpu::Volume<std::uint8_t> costs, gpu::Volume<std::uint8_t> beyond, gpu::Span memory, gpu::Queue& queue) {
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  Problem p = problem_of({costs.width, costs.height}, beyond.width, costs.disparities, queue.properties());
  place(p, memory, queue.properties());
  p.left = address(arms.left);
  p.left_pitch = arms.left.pitch;
  p.right = parameters.support == Support::both ? address(arms.right) : nullptr;
  p.right_pitch = arms.right.pitch;
  p.costs = address(costs);
  p.costs_beyond = address(beyond);
  p.min_disparity = min_disparity;
  p.in_pairs = costs.disparities % 2 == 0 && reinterpret_cast<std::uintptr_t>(p.costs) % 2 == 0 &&
               reinterpret_cast<std::uintptr_t>(p.costs_beyond) % 2 == 0;
  const auto run = [&](const char* kernel, bool along_rows, const Local& local) {
    const int lines = along_rows ? p.height : p.width;
    queue.launch({"cross_aggregation_cuda", kernel, along_rows ? "rows" : "columns", false, 100, local.bytes},
                 {lines * (p.padded / group), 1, 32 * tuning.warps, 1, local.bytes}, p);
  };
  const int entries = std::max(p.left_pitch_words, p.table_pitch);
  queue.launch({"cross_aggregation_cuda", "tables", "any"},
               {ceil_div(entries, tuning.table_items), p.height, tuning.table_items, 1}, p);
  run("first", true, {tuning, false, true});
  for (int i = 0; i + 1 < parameters.iterations; ++i) run("middle", i % 2 == 1, {tuning, true, true});
  run("last", parameters.iterations % 2 == 0, {tuning, true, false});
}
#endif

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities, [[maybe_unused]] int longest_arm,
                              [[maybe_unused]] int cuda_capability) {
  constexpr gpu::Span unlimited{0, 0, std::numeric_limits<std::size_t>::max()};
#ifdef STEREOPSIS_CUDA
  if (Problem p = problem_of(size, 0, disparities, cuda_capability); is_tuned(cuda_capability, p, longest_arm))
    return place(p, unlimited, cuda_capability);
#endif
  return Scratch(size, disparities, unlimited).bytes;
}

void gpu(const Parameters& p, const ArmsOf<gpu::View>& arms, int min_disparity, gpu::Volume<std::uint8_t> costs,
         gpu::Span memory, gpu::Queue& queue) {
  check_images(p, arms);
#ifdef STEREOPSIS_CUDA
  const int capability = queue.cuda_capability();
  if (is_tuned(capability, problem_of({costs.width, costs.height}, 0, costs.disparities, capability), arms.longest))
    return tuned(p, arms, min_disparity, costs, {}, memory, queue);
#endif
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

#ifdef STEREOPSIS_CUDA
bool cuda_takes_both(const Parameters& p, Size size, int width_beyond, int disparities, int longest_arm,
                     int cuda_capability) {
  return p.support == Support::both &&
         is_tuned(cuda_capability, problem_of(size, width_beyond, disparities, cuda_capability), longest_arm);
}

std::size_t cuda_both_scratch_bytes(Size size, int width_beyond, int disparities, int cuda_capability) {
  Problem p = problem_of(size, width_beyond, disparities, cuda_capability);
  return place(p, {0, 0, std::numeric_limits<std::size_t>::max()}, cuda_capability);
}

void cuda_both(const Parameters& p, const ArmsOf<gpu::View>& arms, int min_disparity, gpu::Volume<std::uint8_t> costs,
               gpu::Volume<std::uint8_t> beyond, gpu::Span memory, gpu::Queue& queue) {
  check_images(p, arms);
  tuned(p, arms, min_disparity, costs, beyond, memory, queue);
}
#endif

}  // namespace stereopsis::cross_aggregation
