#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"

#include <algorithm>

#include "fused/window_sad_wta/window_sad_wta_cuda_problem.hpp"

namespace stereopsis::window_sad_wta {
namespace {

constexpr int ceil_div(int n, int divisor) { return (n + divisor - 1) / divisor; }

template <class T>
T* address(const gpu::View<T>& view) {
  return reinterpret_cast<T*>(view.memory) + view.offset;
}

// Rows that share a start: few, so that about `wanted_warps` are at work, and many, so that their start does not count.
int rows_of_band(const Problem& p, int wanted_warps, int warps_across) {
  constexpr int least = 12;
  return std::max(least, ceil_div(p.height, std::max(1, wanted_warps / warps_across)));
}

void match_narrow(Problem& p, bool border_candidates, gpu::Queue& queue) {
  const int per_lane = p.disparities <= 64 ? 2 : 4, warps = ceil_div(p.disparities, 32 * per_lane),
            strips = ceil_div(p.width, strip_columns - 2 * p.radius_x);
  p.band = rows_of_band(p, 1500, strips * warps);
  static constexpr const char* instances[3][2][5] = {
      {{"2_1_inside_1", "2_1_inside_2", "2_1_inside_3", "2_1_inside_4", "2_1_inside_5"},
       {"2_1_border_1", "2_1_border_2", "2_1_border_3", "2_1_border_4", "2_1_border_5"}},
      {{"4_1_inside_1", "4_1_inside_2", "4_1_inside_3", "4_1_inside_4", "4_1_inside_5"},
       {"4_1_border_1", "4_1_border_2", "4_1_border_3", "4_1_border_4", "4_1_border_5"}},
      {{"4_4_inside_1", "4_4_inside_2", "4_4_inside_3", "4_4_inside_4", "4_4_inside_5"},
       {"4_4_border_1", "4_4_border_2", "4_4_border_3", "4_4_border_4", "4_4_border_5"}}};
  const char* instance = instances[per_lane == 2 ? 0 : warps == 1 ? 1 : 2][border_candidates][p.radius_x - 1];
  queue.launch({"window_sad_wta_cuda", "match", instance}, {strips, ceil_div(p.height, p.band), 32, warps}, p);
}

void match_wide(Problem& p, bool border_candidates, gpu::Queue& queue) {
  const bool widest = p.radius_x > 15;
  const int strips = ceil_div(p.width, strip_outputs);
  p.band = rows_of_band(p, widest ? 660 : 1056, strips);
  static constexpr const char* instances[2][2] = {{"inside_15", "border_15"}, {"inside_42", "border_42"}};
  queue.launch({"window_sad_wta_wide_cuda", "match", instances[widest][border_candidates]},
               {strips, ceil_div(p.height, p.band), 32, 1}, p);
}

}  // namespace

bool cuda_serves_unmasked(const Parameters& p, int disparities, const wta::OutputOf<gpu::View>& out) {
  return disparities < 1 << index_bits && p.select.subpixel == wta::Subpixel::none && p.select.uniqueness == 0 &&
         out.right.width == 0 && out.confidence.width == 0;
}

bool cuda_serves(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out) {
  return cuda_serves_unmasked(p, in.disparities, out) && in.select.mask_left.empty() && in.select.mask_right.empty();
}

void cuda(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Queue& queue) {
  const Size size = in.source.left.size();
  Problem problem{address(in.source.left),
                  address(in.source.right),
                  in.source.left.pitch,
                  in.source.right.pitch,
                  address(out.disparity),
                  address(out.validity),
                  out.disparity.pitch,
                  out.validity.pitch,
                  size.width,
                  size.height,
                  in.select.min_disparity,
                  in.disparities,
                  p.window.radius_x(),
                  p.window.radius_y(),
                  window_sad::shift_of(p.window, in.source.kind.max_cost()),
                  0};
  const bool narrow = problem.radius_x >= 1 && problem.radius_x <= 5 && problem.shift == 0 &&
                      problem.disparities <= most_ranges * 128 && problem.width >= strip_columns;
  (narrow ? match_narrow : match_wide)(problem, p.select.border_candidates, queue);
}

}  // namespace stereopsis::window_sad_wta
