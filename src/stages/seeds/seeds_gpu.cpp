#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/seeds/seeds.hpp"

namespace stereopsis::seeds {

void gpu(const Parameters& p, gpu::View<const std::uint32_t> prior, gpu::View<const std::uint32_t> further,
         gpu::Volume<std::uint8_t> costs, gpu::Queue& queue) {
  constexpr int items = 256, run = 8;  // cells in a work-item; the same value as in seeds.cl
  const int runs = ceil_div(costs.disparities, run);
  queue.launch({"seeds", "seeds", "any"}, {ceil_div(costs.width * runs, items), costs.height, items, 1}, prior, further,
               costs.cells, costs.disparities, runs, p.weight);
}

}  // namespace stereopsis::seeds
