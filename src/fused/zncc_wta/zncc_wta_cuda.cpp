#include "fused/zncc_wta/zncc_wta_cuda.hpp"

#include <limits>

#include "fused/zncc_wta/zncc_wta_cuda_problem.hpp"

namespace stereopsis::zncc_wta {
namespace {

constexpr int steps = 16;  // of the portable kernels that find the windows' sums

constexpr int ceil_div(int n, int divisor) { return (n + divisor - 1) / divisor; }

// Where everything lies in the workspace.
struct Memory {
  Memory(const Problem& p, gpu::Span span) {
    const std::size_t before = span.bytes, width = p.width, height = p.height, rows = p.rows, window = 2 * p.radius + 1;
    const std::size_t windows = (width + 2 * p.radius) * height;
    const auto take = [&](std::size_t size) { return span.take(size); };
    moments = take(2 * sizeof(std::int64_t) * width * height).as<std::int64_t>();
    for (int view = 0; view < 2; ++view) {
      sums[view] = take(sizeof(std::int32_t) * windows).as<std::int32_t>();
      roots[view] = take(sizeof(float) * windows).as<float>();
    }
    left_pairs = take(8 * (width + window) * rows);
    left_windows = take(16 * width * rows);
    right_bytes = take(4 * p.pitch * rows);
    right_windows = take(8 * p.pitch * rows);
    for (gpu::Span& best : bests) best = take(sizeof(std::uint32_t) * width * height);
    bytes = before - span.bytes;
  }

  gpu::Array<std::int64_t> moments;
  gpu::Array<std::int32_t> sums[2];
  gpu::Array<float> roots[2];
  gpu::Span left_pairs, left_windows, right_bytes, right_windows, bests[2];
  std::size_t bytes;
};

Problem shape_of(const Parameters& p, Size size) {
  Problem problem{};
  problem.width = size.width;
  problem.height = size.height;
  problem.radius = p.zncc.radius();
  problem.rows = ceil_div(size.height, strip_rows) * strip_rows + p.zncc.window;
  problem.pitch = size.width + 2 * p.zncc.window;
  problem.one_over_n = 1.0f / static_cast<float>(p.zncc.pixels());
  return problem;
}

// CUDA's memory is known by its address.
template <class T>
T* pointer(gpu::Handle memory, std::int64_t offset) {
  return memory == 0 ? nullptr : reinterpret_cast<T*>(memory) + offset;
}
template <class T>
T* pointer(const gpu::View<T>& view) {
  return pointer<T>(view.memory, view.offset);
}
template <class T>
T* pointer(const gpu::Array<T>& array) {
  return pointer<T>(array.memory, array.offset);
}
template <class T>
T* pointer(const gpu::Span& span) {
  return pointer<T>(span.as<T>());
}

void attach(Problem& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, const Memory& memory) {
  p.disparities = in.disparities;
  p.min_disparity = in.select.min_disparity;
  p.left_samples = pointer(in.left);
  p.right_samples = pointer(in.right);
  p.mask_left = pointer(in.select.mask_left);
  p.mask_right = pointer(in.select.mask_right);
  p.left_pitch = in.left.pitch;
  p.right_pitch = in.right.pitch;
  p.mask_left_pitch = in.select.mask_left.pitch;
  p.mask_right_pitch = in.select.mask_right.pitch;
  for (int view = 0; view < 2; ++view) {
    p.sums[view] = pointer(memory.sums[view]);
    p.roots[view] = pointer(memory.roots[view]);
  }
  p.left_pairs = pointer<std::uint8_t>(memory.left_pairs);
  p.left_windows = pointer<std::uint8_t>(memory.left_windows);
  p.right_bytes = pointer<std::uint32_t>(memory.right_bytes);
  p.right_windows = pointer<std::uint8_t>(memory.right_windows);
  p.left_best = pointer<std::uint32_t>(memory.bests[0]);
  p.right_best = pointer<std::uint32_t>(memory.bests[1]);
  p.disparity = pointer(out.disparity);
  p.validity = pointer(out.validity);
  p.right_disparity = pointer(out.right);
  p.disparity_pitch = out.disparity.pitch;
  p.validity_pitch = out.validity.pitch;
  p.right_disparity_pitch = out.right.pitch;
}

}  // namespace

bool cuda_serves(const Parameters& p, int bits, int disparities, bool wants_confidence) {
  return bits == 8 && p.zncc.window <= largest_window && disparities <= 65535 && !wants_confidence &&
         p.select.subpixel == wta::Subpixel::none && p.select.uniqueness == 0 && !p.select.border_candidates;
}

std::size_t cuda_workspace_bytes(const Parameters& p, Size size) {
  return Memory(shape_of(p, size), {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void cuda(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
          gpu::Queue& queue) {
  const Size size = in.left.size();
  Problem problem = shape_of(p, size);
  const Memory memory(problem, workspace);
  attach(problem, in, out, memory);
  for (int view = 0; view < 2; ++view) {
    queue.launch({"zncc_wta", "moments", "narrow"}, gpu::over(Size{size.width, ceil_div(size.height, steps)}),
                 view == 0 ? in.left : in.right, memory.moments, problem.radius, steps);
    queue.launch({"zncc_wta", "windows", "narrow"},
                 gpu::over(Size{ceil_div(size.width + 2 * problem.radius, steps), size.height}), memory.moments,
                 memory.sums[view], memory.roots[view], size.width, size.height, problem.radius, steps,
                 problem.one_over_n);
    const std::size_t best_bytes = sizeof(std::uint32_t) * size.width * size.height;
    queue.fill({memory.bests[view].memory, memory.bests[view].offset}, best_bytes, 0);
  }
  const auto kernel = [](const char* name) { return gpu::Kernel{"zncc_wta_cuda", name, "all"}; };
  queue.launch(kernel("pack_left"), gpu::over(Size{problem.rows, size.width + p.zncc.window}), problem);
  queue.launch(kernel("pack_right"), gpu::over(Size{problem.pitch, problem.rows}), problem);

  const int warps = std::min(ceil_div(in.disparities, 32), most_warps),
            groups = ceil_div(in.disparities, 32 * most_warps);
  const int strips = ceil_div(size.height, strip_rows);
  // Short blocks begin anew more often, but small images have too few long ones for all multiprocessors.
  const bool small = std::int64_t{ceil_div(size.width, most_columns)} * strips * groups * warps < 132 * 27;
  problem.columns = small ? most_columns / 2 : most_columns;
  queue.launch(kernel("correlate"), {ceil_div(size.width, problem.columns) * groups, strips, 32 * warps, 1}, problem);
  queue.launch(kernel("select"), gpu::over(size), problem);
}

}  // namespace stereopsis::zncc_wta
