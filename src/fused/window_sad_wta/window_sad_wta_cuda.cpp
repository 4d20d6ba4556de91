#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"

#include <algorithm>
#include <string>

#include "fused/window_sad_wta/window_sad_wta_cuda_problem.hpp"

namespace stereopsis::window_sad_wta {
namespace {

constexpr int ceil_div(int n, int divisor) { return (n + divisor - 1) / divisor; }

template <class T>
T* address(const gpu::View<T>& view) {
  return reinterpret_cast<T*>(view.memory) + view.offset;
}

}  // namespace

bool cuda_serves(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out) {
  const int radius = p.window.radius_x();
  return radius >= 1 && radius <= 5 && window_sad::shift_of(p.window, in.source.kind.max_cost()) == 0 &&
         in.disparities <= most_ranges * 128 && in.source.left.width >= strip_columns &&
         p.select.subpixel == wta::Subpixel::none && p.select.uniqueness == 0 && in.select.mask_left.empty() &&
         in.select.mask_right.empty() && out.right.empty() && out.confidence.empty();
}

void cuda(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Queue& queue) {
  constexpr int wanted_warps = 1500;  // about what an H100 holds at a time
  constexpr int least_band = 12;      // rows, so that the start of a band does not count
  const Size size = in.source.left.size();
  const int radius = p.window.radius_x(), per_lane = in.disparities <= 64 ? 2 : 4,
            warps = ceil_div(in.disparities, 32 * per_lane);
  const int strips = ceil_div(size.width, strip_columns - 2 * radius);
  const int band = std::max(least_band, ceil_div(size.height, std::max(1, wanted_warps / (strips * warps))));
  const Problem problem{address(in.source.left),
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
                        p.window.radius_y(),
                        band};
  static constexpr const char* instances[2][2][5] = {
      {{"2_1_inside_1", "2_1_inside_2", "2_1_inside_3", "2_1_inside_4", "2_1_inside_5"},
       {"2_1_border_1", "2_1_border_2", "2_1_border_3", "2_1_border_4", "2_1_border_5"}},
      {{"4_4_inside_1", "4_4_inside_2", "4_4_inside_3", "4_4_inside_4", "4_4_inside_5"},
       {"4_4_border_1", "4_4_border_2", "4_4_border_3", "4_4_border_4", "4_4_border_5"}}};
  static constexpr const char* single[2][5] = {
      {"4_1_inside_1", "4_1_inside_2", "4_1_inside_3", "4_1_inside_4", "4_1_inside_5"},
      {"4_1_border_1", "4_1_border_2", "4_1_border_3", "4_1_border_4", "4_1_border_5"}};
  const int border = p.select.border_candidates ? 1 : 0;
  const char* instance = per_lane == 2 ? instances[0][border][radius - 1]
                         : warps == 1  ? single[border][radius - 1]
                                       : instances[1][border][radius - 1];
  queue.launch({"window_sad_wta_cuda", "match", instance}, {strips, ceil_div(size.height, band), 32, warps}, problem);
}

}  // namespace stereopsis::window_sad_wta
