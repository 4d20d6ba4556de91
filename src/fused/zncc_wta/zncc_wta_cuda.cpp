#include "fused/zncc_wta/zncc_wta_cuda.hpp"

#include <algorithm>
#include <limits>

#include "fused/zncc_wta/zncc_wta_cuda_problem.hpp"

namespace stereopsis::zncc_wta {
namespace {

constexpr int ceil_div(int n, int divisor) { return (n + divisor - 1) / divisor; }

// Where everything lies in the workspace.
struct Memory {
  Memory(const Problem& p, gpu::Span span) {
    const std::size_t before = span.bytes, height = p.height;
    const Side* sides[2] = {&p.left, &p.right};
    for (int view = 0; view < 2; ++view) {
      octets[view] = span.take(8 * sides[view]->pitch * height);
      windows[view] = span.take((view == 0 ? 16 : 8) * sides[view]->pitch * height);
      bests[view] = span.take(sizeof(std::uint32_t) * p.width * height);
    }
    bytes = before - span.bytes;
  }

  gpu::Span octets[2], windows[2], bests[2];
  std::size_t bytes;
};

Problem shape_of(const Parameters& p, Size size) {
  Problem problem{};
  problem.width = size.width;
  problem.height = size.height;
  problem.radius = p.zncc.radius();
  problem.one_over_n = 1.0f / static_cast<float>(p.zncc.pixels());
  // Octets are read for whole steps of the matrix products, 32 columns of the window.
  const int columns = ceil_div(p.zncc.window, 32) * 32;
  problem.left.pitch = ceil_div(size.width, warp_pixels) * warp_pixels + columns;
  problem.right.margin = warp_span;
  problem.right.pitch = ceil_div(size.width + 2 * warp_span + columns, 2) * 2;
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

void attach(Side& side, const gpu::View<const std::int16_t>& samples, const gpu::View<const std::uint8_t>& mask,
            const Memory& memory, int view) {
  side.samples = pointer(samples);
  side.samples_pitch = samples.pitch;
  side.mask = pointer(mask);
  side.mask_pitch = mask.pitch;
  side.octets = pointer<std::uint8_t>(memory.octets[view]);
  side.windows = pointer<std::uint8_t>(memory.windows[view]);
  side.best = pointer<std::uint32_t>(memory.bests[view]);
}

void attach(Problem& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, const Memory& memory) {
  attach(p.left, in.left, in.select.mask_left, memory, 0);
  attach(p.right, in.right, in.select.mask_right, memory, 1);
  p.disparities = in.disparities;
  p.min_disparity = in.select.min_disparity;
  // Right pixels are read in pairs, the first one of which is even.
  p.first_k = in.disparities - 1 + ((in.select.min_disparity + in.disparities - 1) & 1);
  p.chunks = ceil_div(p.first_k + 16, warp_disparities);
  p.disparity = pointer(out.disparity);
  p.validity = pointer(out.validity);
  p.right_disparity = pointer(out.right);
  p.disparity_pitch = out.disparity.pitch;
  p.validity_pitch = out.validity.pitch;
  p.right_disparity_pitch = out.right.pitch;
}

// Strips of rows are long where there are still warps enough to fill all multiprocessors twice. As far as the rows before a
// strip, a window's, are more than its own, one time is enough, not quite full.
int strip_rows_for(Size size, int window, int warps) {
  constexpr int resident = 132 * 16;
  int rows = 16;
  while (rows < 128 && warps * ceil_div(size.height, 2 * rows) >= (rows <= window ? 3 * resident / 4 : 2 * resident))
    rows *= 2;
  return rows;
}

}  // namespace

bool cuda_serves(const Parameters& p, int bits, int disparities, bool wants_confidence) {
  return bits == 8 && disparities <= most_disparities && !wants_confidence &&
         p.select.subpixel == wta::Subpixel::none && p.select.uniqueness == 0 && !p.select.border_candidates;
}

std::size_t cuda_workspace_bytes(const Parameters& p, Size size) {
  return Memory(shape_of(p, size), {0, 0, std::numeric_limits<std::size_t>::max()}).bytes;
}

void cuda(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
          gpu::Queue& queue) {
  const Size size = in.left.size();
  Problem problem = shape_of(p, size);
  attach(problem, in, out, Memory(problem, workspace));
  const int warps = ceil_div(size.width, warp_pixels) * problem.chunks;
  problem.strip_rows = strip_rows_for(size, p.zncc.window, warps);
  problem.prepare_rows = size.height < 1024 && p.zncc.window <= 31 ? 8 : 32;
  const auto kernel = [](const char* name, const char* instance) {
    return gpu::Kernel{"zncc_wta_cuda", name, instance};
  };
  const int columns = prepare_threads - problem.radius - std::max(problem.radius, 8);
  queue.launch(kernel("prepare", "all"),
               {ceil_div(std::max(problem.left.pitch, problem.right.pitch), columns),
                2 * ceil_div(size.height, problem.prepare_rows), prepare_threads, 1},
               problem);
  queue.launch(kernel("correlate", p.zncc.window <= narrow_window ? "narrow" : "wide"),
               {ceil_div(warps, correlate_warps), ceil_div(size.height, problem.strip_rows), 32 * correlate_warps, 1},
               problem);
  queue.launch(kernel("select", "all"), gpu::over(size), problem);
}

}  // namespace stereopsis::zncc_wta
