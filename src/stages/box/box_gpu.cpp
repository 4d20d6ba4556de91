#include "stages/box/box.hpp"
#include "stages/window_mean/window_mean_gpu.hpp"

namespace stereopsis::box {

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> averages,
         gpu::Queue& queue) {
  const window_mean::Launch launch(p.window(), costs.width, costs.height, costs.disparities);
  queue.launch({"box", "average", "any"}, launch.grid, costs.cells, averages.cells, costs.width, costs.height,
               costs.disparities, p.radius_x(), p.radius_y(), launch.band);
}

}  // namespace stereopsis::box
