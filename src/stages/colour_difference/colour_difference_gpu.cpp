#include "device/gpu/device.hpp"
#include "stages/colour_difference/colour_difference.hpp"
#include "stages/cost/tile.hpp"

namespace stereopsis::colour_difference {

void gpu(const Parameters& p, gpu::View<const std::uint32_t> left, gpu::View<const std::uint32_t> right,
         int min_disparity, gpu::Volume<std::uint8_t> costs, gpu::Queue& queue) {
  queue.launch({"colour_difference", "costs", "any"}, cost::over_tiles(costs), left, right, costs.cells,
               costs.disparities, min_disparity, p.truncation);
}

}  // namespace stereopsis::colour_difference
