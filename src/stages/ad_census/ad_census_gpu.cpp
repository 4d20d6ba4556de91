#include "device/gpu/device.hpp"
#include "stages/ad_census/ad_census.hpp"

namespace stereopsis::ad_census {

void gpu(const Parameters& p, const InputOf<gpu::View>& in, int min_disparity, gpu::Volume<std::uint8_t> costs,
         gpu::Queue& queue) {
  const gpu::Grid cells = gpu::over(costs.width * costs.disparities);
  queue.launch({"ad_census", "ad_census", "any"}, {cells.groups_x, costs.height, cells.items_x, 1}, in.left, in.right,
               in.left_census, in.right_census, costs.cells, in.left.channels, costs.disparities, min_disparity,
               tables(p));
}

}  // namespace stereopsis::ad_census
