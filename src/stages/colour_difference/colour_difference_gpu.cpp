#include "device/gpu/device.hpp"
#include "stages/colour_difference/colour_difference.hpp"

namespace stereopsis::colour_difference {

void gpu(const Parameters& p, gpu::View<const std::uint32_t> left, gpu::View<const std::uint32_t> right,
         int min_disparity, gpu::Volume<std::uint8_t> costs, gpu::Queue& queue) {
  gpu::Grid grid = gpu::over(costs.width * costs.disparities);
  grid.groups_y = costs.height;
  queue.launch({"colour_difference", "costs", "any"}, grid, left, right, costs.cells, costs.disparities, min_disparity,
               p.truncation);
}

}  // namespace stereopsis::colour_difference
