#include "stages/multiple_windows/multiple_windows.hpp"
#include "stages/window_mean/window_mean_gpu.hpp"

namespace stereopsis::multiple_windows {

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> aggregated,
         gpu::Span scratch, gpu::Queue& queue) {
  const int width = costs.width, height = costs.height, disparities = costs.disparities, radius = p.radius();
  const auto averages = scratch.as<std::uint16_t>();
  const window_mean::Launch launch({radius, radius}, width, height, disparities);
  queue.launch({"multiple_windows", "average", "five"}, launch.grid, costs.cells, averages, width, height, disparities,
               radius, launch.band);
  gpu::Grid grid = gpu::over(width * disparities);
  grid.groups_y = height;
  queue.launch({"multiple_windows", "choose", p.supports() == 4 ? "five" : "nine"}, grid, averages, aggregated.cells,
               width, height, disparities, radius);
}

}  // namespace stereopsis::multiple_windows
