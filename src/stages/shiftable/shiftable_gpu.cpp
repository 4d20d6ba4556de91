#include "stages/shiftable/shiftable.hpp"
#include "stages/window_mean/window_mean_gpu.hpp"

namespace stereopsis::shiftable {

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> lowest,
         gpu::Span scratch, gpu::Queue& queue) {
  const int width = costs.width, height = costs.height, disparities = costs.disparities, radius = p.radius();
  const auto between = scratch.as<std::uint16_t>();
  const window_mean::Launch launch({radius, radius}, width, height, disparities);
  queue.launch({"shiftable", "average", "any"}, launch.grid, costs.cells, lowest.cells, width, height, disparities,
               radius, launch.band);
  const int lanes = window_mean::Launch::lanes;
  const auto lower = [&](gpu::Array<const std::uint16_t> from, gpu::Array<std::uint16_t> to, int lines, int rows,
                         int pixels, int stride) {
    const int groups = (lines + lanes - 1) / lanes, blocks = (pixels + p.window - 1) / p.window;
    queue.launch({"shiftable", "lower", "any"}, {groups * blocks, rows, lanes, 1}, from, to, lines, rows,
                 width * disparities, pixels, stride, radius);
  };
  lower(lowest.cells, between, disparities, height, width, disparities);
  lower(between, lowest.cells, width * disparities, 1, height, width * disparities);
}

}  // namespace stereopsis::shiftable
