#include "device/gpu/device.hpp"
#include "stages/ad_census/ad_census.hpp"
#include "stages/cost/tile.hpp"

namespace stereopsis::ad_census {

void gpu(const Parameters& p, const InputOf<gpu::View>& in, int min_disparity, gpu::Volume<std::uint8_t> costs,
         gpu::Queue& queue) {
  queue.launch({"ad_census", "ad_census", "any"}, cost::over_tiles(costs), in.left, in.right, in.left_census,
               in.right_census, costs.cells, in.left.channels, costs.disparities, min_disparity, tables(p));
}

}  // namespace stereopsis::ad_census
