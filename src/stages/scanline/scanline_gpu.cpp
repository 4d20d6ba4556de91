#include <algorithm>
#include <limits>

#include "device/gpu/device.hpp"
#include "stages/scanline/scanline.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/address.hpp"
#include "stages/scanline/scanline_cuda_problem.hpp"
#endif

namespace stereopsis::scanline {
namespace {

// Limits of the path costs that scanline.cl stores in local memory.
constexpr int narrow_disparities = 1024;
constexpr int most_items = 256;

// One disparity for each work-item, in whole warps.
int items_for(int disparities) { return std::min((disparities + 31) / 32 * 32, most_items); }

struct Scratch {
  Scratch(Size size, int disparities, gpu::Span memory) {
    const std::size_t before = memory.bytes, lines = std::max(size.width, size.height);
    for (auto* marks : {&left_marks, &right_marks})
      *marks = memory.take(static_cast<std::size_t>(size.width) * size.height).as<std::uint8_t>();
    if (disparities > narrow_disparities)
      states = memory.take(2 * sizeof(std::uint16_t) * lines * (disparities + 2)).as<std::uint16_t>();
    bytes = before - memory.bytes;
  }

  gpu::Array<std::uint8_t> left_marks, right_marks;
  gpu::Array<std::uint16_t> states;
  std::size_t bytes;
};

#ifdef STEREOPSIS_CUDA
bool is_tuned(int cuda_capability, Size size, int disparities) {
  constexpr int most_columns = 24 * 1024;  // The marks of more columns would not always fit in shared memory.
  return gpu::runs(tunings, cuda_capability) && size.width <= most_columns &&
         ((disparities % 4 == 0 && disparities <= most_disparities_narrow) ||
          (disparities % 8 == 0 && disparities <= most_disparities_wide));
}

// Returns whether the alignment of the volumes is sufficient for the tuned kernels. A volume of the caller may begin at
// any address.
bool is_aligned(gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums) {
  const auto start = [](const auto& cells) { return reinterpret_cast<std::uintptr_t>(address(cells)); };
  return start(costs.cells) % 8 == 0 && start(sums.cells) % 16 == 0;
}

// Assigns scratch memory to the arrays of the tuned kernels, and returns the size of the memory in bytes.
std::size_t place(Problem& p, gpu::Span memory) {
  const std::size_t before = memory.bytes, rows = static_cast<std::size_t>(p.height) + 1;
  p.left_words = p.width + 1;
  p.right_words = (p.width + p.disparities + 3) / 4 + 2;
  const auto take = [&](std::size_t words) {
    return address(memory.take(sizeof(std::uint32_t) * words).as<std::uint32_t>());
  };
  for (int i = 0; i < 2; ++i) {
    p.left_marks[i] = take(rows * p.left_words);
    p.right_marks[i] = take(4 * rows * p.right_words);
  }
  return before - memory.bytes;
}

void tuned(const Parameters& p, const ImagesOf<gpu::View>& images, int min_disparity,
           gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span memory,
           gpu::Queue& queue) {
  const auto [near, one, both] = penalties(p);
  const auto two = [](int low, int high) { return static_cast<std::uint32_t>(low | high << 16); };
  Problem problem{};
  problem.left = address(images.left);
  problem.right = address(images.right);
  problem.left_pitch = images.left.pitch;
  problem.right_pitch = images.right.pitch;
  problem.costs = address(costs.cells);
  problem.sums = address(sums.cells);
  problem.width = costs.width;
  problem.height = costs.height;
  problem.disparities = costs.disparities;
  problem.min_disparity = min_disparity;
  problem.channels = images.left.channels;
  problem.colour = p.colour;
  problem.p1[0] = two(near.p1, one.p1);
  problem.p1[1] = two(both.p1, both.p1);
  problem.p2[0] = two(near.p2, one.p2);
  problem.p2[1] = two(both.p2, both.p2);
  place(problem, memory);
  const char* instance = costs.disparities <= most_disparities_narrow ? "narrow" : "wide";
  queue.launch({"scanline_cuda", "marks", "any"},
               {costs.height + 1, 1, gpu::pick(tunings, queue.properties()).mark_items, 1, 2 * costs.width}, problem);
  queue.launch({"scanline_cuda", "rows", instance}, {costs.height, 1, path_items, 1}, problem);
  queue.launch({"scanline_cuda", "columns", instance}, {costs.width, 1, path_items, 1}, problem);
}
#endif

}  // namespace

std::size_t gpu_scratch_bytes(Size size, int disparities, [[maybe_unused]] int cuda_capability) {
  constexpr gpu::Span unlimited{0, 0, std::numeric_limits<std::size_t>::max()};
#ifdef STEREOPSIS_CUDA
  if (is_tuned(cuda_capability, size, disparities)) {
    Problem problem{};
    problem.width = size.width;
    problem.height = size.height;
    problem.disparities = disparities;
    return place(problem, unlimited);
  }
#endif
  return Scratch(size, disparities, unlimited).bytes;
}

void gpu(const Parameters& p, const ImagesOf<gpu::View>& images, int min_disparity,
         gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span memory, gpu::Queue& queue) {
  check(p);
#ifdef STEREOPSIS_CUDA
  if (is_tuned(queue.cuda_capability(), {costs.width, costs.height}, costs.disparities) && is_aligned(costs, sums))
    return tuned(p, images, min_disparity, costs, sums, memory, queue);
#endif
  const auto [near, one, both] = penalties(p);
  const Size size{costs.width, costs.height};
  const Scratch s(size, costs.disparities, memory);
  const auto mark = [&](gpu::View<const std::uint8_t> image, gpu::Array<std::uint8_t> marks) {
    queue.launch({"scanline", "marks", "narrow"}, gpu::over(size), image, marks, size.width, image.channels, p.colour);
  };
  mark(images.left, s.left_marks);
  mark(images.right, s.right_marks);
  struct Direction {
    int dx, dy;
  };
  int add = 0;
  for (const auto [dx, dy] : {Direction{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    queue.launch({"scanline", "paths", costs.disparities > narrow_disparities ? "wide" : "narrow"},
                 {dy == 0 ? size.height : size.width, 1, items_for(costs.disparities), 1}, s.left_marks, s.right_marks,
                 costs.cells, sums.cells, s.states, size.width, size.height, costs.disparities, min_disparity, dx, dy,
                 add, p.colour == 0 ? 1 : 0, near.p1, one.p1, both.p1, near.p2, one.p2, both.p2);
    add = 1;
  }
}

}  // namespace stereopsis::scanline
