#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"

#include <algorithm>

#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "fused/window_sad_wta/window_sad_wta_cuda_problem.hpp"

namespace stereopsis::window_sad_wta {
namespace {

int rows_of_band(const Problem& p, int warps_across, const gpu::Properties& device) {
  const Tuning& tuning = gpu::pick(tunings, device);
  const int at_work = static_cast<int>(tuning.warps_at_work * device.multiprocessors);
  return std::max(tuning.least_rows, ceil_div(p.height, std::max(1, at_work / warps_across)));
}

void match_narrow(Problem& p, gpu::Queue& queue) {
  const int per_lane = p.disparities <= 64 ? 2 : 4, warps = ceil_div(p.disparities, 32 * per_lane),
            strips = ceil_div(p.width, strip_columns - 2 * p.radius_x);
  p.band = rows_of_band(p, strips * warps, queue.properties());
  static constexpr const char* instances[3][2][5] = {
      {{"2_1_inside_1", "2_1_inside_2", "2_1_inside_3", "2_1_inside_4", "2_1_inside_5"},
       {"2_1_border_1", "2_1_border_2", "2_1_border_3", "2_1_border_4", "2_1_border_5"}},
      {{"4_1_inside_1", "4_1_inside_2", "4_1_inside_3", "4_1_inside_4", "4_1_inside_5"},
       {"4_1_border_1", "4_1_border_2", "4_1_border_3", "4_1_border_4", "4_1_border_5"}},
      {{"4_4_inside_1", "4_4_inside_2", "4_4_inside_3", "4_4_inside_4", "4_4_inside_5"},
       {"4_4_border_1", "4_4_border_2", "4_4_border_3", "4_4_border_4", "4_4_border_5"}}};
  const char* instance = instances[per_lane == 2 ? 0 : warps == 1 ? 1 : 2][p.border_candidates][p.radius_x - 1];
  queue.launch({"window_sad_wta_cuda", "match", instance}, {strips, ceil_div(p.height, p.band), 32, warps}, p);
}

// Launches as many blocks as can run at the same time.
void match_wide(Problem& p, gpu::Queue& queue) {
  const WideTuning& tuning = gpu::pick(wide_tunings, queue.properties());
  const int blocks = tuning.blocks * queue.properties().multiprocessors;
  p.outputs = ceil_div(p.width, ceil_div(p.width, tuning.columns() - 2 * p.radius_x));
  const int strips = ceil_div(p.width, p.outputs);
  p.band = ceil_div(p.height, std::max(1, blocks / strips));
  queue.launch({.file = "window_sad_wta_wide_cuda",
                .name = "match",
                .instance = p.shift == 0 ? "exact" : "shifted",
                .most_local_bytes = tuning.shared_bytes},
               {strips, ceil_div(p.height, p.band), 32, tuning.warps, tuning.shared_bytes}, p);
}

bool is_narrow(const Problem& p) {
  return p.radius_x >= 1 && p.radius_x <= 5 && p.shift == 0 && p.disparities <= most_ranges * 128 &&
         p.width >= strip_columns;
}

Problem problem_of(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out) {
  const Size size = in.source.left.size();
  return {address(in.source.left),
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
          p.select.border_candidates,
          0,
          0};
}

bool selects(const Parameters& p, int disparities, const wta::OutputOf<gpu::View>& out) {
  return disparities < 1 << index_bits && p.select.subpixel == wta::Subpixel::none && p.select.uniqueness == 0 &&
         out.right.width == 0 && out.confidence.width == 0;
}

// A device with little shared memory may run code that was compiled for an earlier device with more.
bool wide_runs_on(const gpu::Properties& device, int width) {
  const WideTuning& tuning = gpu::pick(wide_tunings, device);
  return gpu::runs(wide_tunings, device) && device.local_bytes >= static_cast<std::size_t>(tuning.shared_bytes) &&
         width >= tuning.columns_of_warp;
}

}  // namespace

bool cuda_serves(const Target& target, const Parameters& p, const Input<gpu::View>& in,
                 const wta::OutputOf<gpu::View>& out) {
  const Problem problem = problem_of(p, in, out);
  return (wide_runs_on(target, problem.width) || (gpu::runs(tunings, target) && is_narrow(problem))) &&
         selects(p, in.disparities, out) && in.select.mask_left.empty() && in.select.mask_right.empty();
}

void cuda(const Parameters& p, const Input<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Queue& queue) {
  Problem problem = problem_of(p, in, out);
  (is_narrow(problem) ? match_narrow : match_wide)(problem, queue);
}

}  // namespace stereopsis::window_sad_wta
