#include <algorithm>

#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/asw/asw.hpp"
#include "stages/asw/asw_cuda_problem.hpp"

namespace stereopsis::asw {
namespace {

constexpr std::int64_t most_weights_bytes = 256 << 20;  // limit for a band; a single row may need more

// Launch parameters of the tuned CUDA kernels: the tiles of an image row, and the size of a row's weights.
struct Plan {
  Plan(const Parameters& p, int width, int disparities, gpu::Capability capability)
      : tuning(gpu::pick(tunings, capability)),
        taps_x(2 * p.radius_x() + 1),
        taps_y(2 * p.radius_y() + 1),
        tile_disparities(ceil_div(disparities, 64) % 2 == 1 && fits(64) ? 64 : 128),
        columns(right_columns - tile_disparities),
        tiles_x(ceil_div(width, columns)),
        tiles_d(ceil_div(disparities, tile_disparities)),
        left_pitch(columns * tiles_x),
        right_pitch(left_pitch + tile_disparities * tiles_d),
        row_bytes(std::int64_t{taps_x} * taps_y * (left_pitch + right_pitch)) {}

  bool fits(int disparities_of_tile) const { return local_bytes(disparities_of_tile) <= tuning.most_local_bytes; }
  int local_bytes(int disparities_of_tile) const {
    return std::max(sums_bytes(disparities_of_tile, taps_x), totals_bytes(disparities_of_tile));
  }
  bool serves() const { return fits(tile_disparities); }

  const Tuning& tuning;
  int taps_x, taps_y;
  int tile_disparities, columns;
  int tiles_x, tiles_d;
  int left_pitch, right_pitch;  // pitches of the weights of both views
  std::int64_t row_bytes;       // size of the weights of a row in both views
};

void tuned(const Parameters& p, const Plan& plan, gpu::View<const std::uint32_t> lab_left,
           gpu::View<const std::uint32_t> lab_right, int min_disparity, gpu::Volume<const std::uint8_t> costs,
           gpu::Volume<std::uint16_t> aggregated, gpu::Span scratch, gpu::Queue& queue) {
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  const int threads = plan.tuning.threads, columns_of_block = threads * plan.tuning.weights_a_thread;
  CudaProblem problem{.width = costs.width,
                      .height = costs.height,
                      .disparities = costs.disparities,
                      .radius_x = p.radius_x(),
                      .radius_y = p.radius_y(),
                      .first_row = 0,
                      .rows = 0,
                      .left_pitch = plan.left_pitch,
                      .right_pitch = plan.right_pitch,
                      .right_before = min_disparity + plan.tile_disparities * plan.tiles_d - 1,
                      .colour_scale = scales.colour,
                      .distance_scale = scales.distance};
  const int weight_blocks = ceil_div(plan.left_pitch, columns_of_block) + ceil_div(plan.right_pitch, columns_of_block);
  const int most_rows = static_cast<int>(
      std::min<std::int64_t>(static_cast<std::int64_t>(scratch.bytes) / plan.row_bytes, gpu::most_cuda_groups_y));
  const int rows = ceil_div(costs.height, ceil_div(costs.height, most_rows));
  const auto weights = scratch.as<std::uint8_t>();
  const char* const instance = plan.tile_disparities == 64 ? "g4" : "g2";
  for (int y = 0; y < costs.height; y += rows) {
    problem.first_row = y;
    problem.rows = std::min(rows, costs.height - y);
    queue.launch({"asw_cuda", "weigh", "all"}, {weight_blocks, problem.rows, threads, 1}, lab_left, lab_right, weights,
                 support_weight::make_table(), problem);
    queue.launch({"asw_cuda", "aggregate", instance, false, 100, plan.tuning.most_local_bytes},
                 {plan.tiles_x * plan.tiles_d, problem.rows, threads, 1, plan.local_bytes(plan.tile_disparities)},
                 weights, costs.cells, aggregated.cells, problem);
  }
}

}  // namespace

std::size_t gpu_scratch_bytes(const Parameters& p, Size size, int disparities, int cuda_capability) {
  const Plan plan(p, size.width, disparities, cuda_capability);
  if (!gpu::runs(tunings, cuda_capability) || !plan.serves()) return 0;
  const auto rows = std::clamp<std::int64_t>(most_weights_bytes / plan.row_bytes, 1, size.height);
  return static_cast<std::size_t>(rows * plan.row_bytes);
}

void gpu(const Parameters& p, gpu::View<const std::uint32_t> lab_left, gpu::View<const std::uint32_t> lab_right,
         int min_disparity, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> aggregated,
         gpu::Span scratch, gpu::Queue& queue) {
  const Plan plan(p, costs.width, costs.disparities, queue.properties());
  if (gpu::runs(tunings, queue.properties()) && plan.serves() &&
      static_cast<std::int64_t>(scratch.bytes) >= plan.row_bytes)
    return tuned(p, plan, lab_left, lab_right, min_disparity, costs, aggregated, scratch, queue);
  constexpr int tile_x = 32, tile_d = 64, items = 256;  // the same values as in asw.cl
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  const int d_tiles = (costs.disparities + tile_d - 1) / tile_d;
  const gpu::Grid grid{(costs.width + tile_x - 1) / tile_x, costs.height * d_tiles, items, 1};
  queue.launch({"asw", "aggregate", "any"}, grid, lab_left, lab_right, costs.cells, aggregated.cells,
               support_weight::make_table(), costs.disparities, min_disparity, p.radius_x(), p.radius_y(),
               scales.colour, scales.distance);
}

}  // namespace stereopsis::asw
