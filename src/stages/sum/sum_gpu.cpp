#include "device/gpu/device.hpp"
#include "stages/sum/sum.hpp"

namespace stereopsis::sum {

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint8_t> sums,
         gpu::Queue& queue) {
  const int cells = sums.width * sums.disparities;
  constexpr int items = 256, run = 8;  // the same values as in sum.cl
  queue.launch({"sum", "sum", "any"}, {(cells + run * items - 1) / (run * items), sums.height, items, 1}, costs.cells,
               sums.cells, cells, sums.height, p.cost_weight, p.plus_weight);
}

}  // namespace stereopsis::sum
