#include <algorithm>

#include "stages/segment_support/segment_support.hpp"
#include "stages/slic/segments.hpp"
#include "stages/window_mean/window_mean_gpu.hpp"

namespace stereopsis::segment_support {

void gpu(const Parameters& p, gpu::View<const std::uint32_t> segments, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> aggregated, gpu::Queue& queue) {
  const auto [width, height] = segments.size();
  const int count = costs.disparities, items = std::clamp((count + 31) / 32 * 32, 32, 128);
  const int across = slic::blocks_across(width), down = slic::blocks_across(height);
  queue.launch({"segment_support", "give_segment_means", "any"},
               {across * ((count + items - 1) / items), down, items, 1}, segments, costs.cells, aggregated.cells,
               across, count);
  const int radius = p.window / 2;
  const window_mean::Launch launch({radius, radius}, width, height, count);
  queue.launch({"segment_support", "add_window_means", "any"}, launch.grid, costs.cells, aggregated.cells, width,
               height, count, radius, launch.band);
}

}  // namespace stereopsis::segment_support
