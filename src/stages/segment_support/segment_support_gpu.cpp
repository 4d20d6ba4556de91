#include "core/rounding.hpp"
#include "stages/segment_support/segment_support.hpp"
#include "stages/window_mean/window_mean_gpu.hpp"

namespace stereopsis::segment_support {

void gpu(const Parameters& p, gpu::View<const std::uint32_t> segments, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> aggregated, gpu::Queue& queue) {
  constexpr int patch = 32, side_by_side = 32, teams = 8;  // the same values as in the kernel
  const auto [width, height] = segments.size();
  const int count = costs.disparities, across = ceil_div(width, patch), down = ceil_div(height, patch);
  queue.launch({"segment_support", "give_segment_means", "any"},
               {across * ceil_div(count, side_by_side), down, side_by_side, teams}, segments, costs.cells,
               aggregated.cells, across, count);
  const int radius = p.window / 2;
  const window_mean::Launch launch({radius, radius}, width, height, count);
  queue.launch({"segment_support", "add_window_means", "any"}, launch.grid, costs.cells, aggregated.cells, width,
               height, count, radius, launch.band);
}

}  // namespace stereopsis::segment_support
