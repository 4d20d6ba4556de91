#include "device/gpu/device.hpp"
#include "stages/box/box.hpp"

namespace stereopsis::box {

void gpu(const Parameters& p, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> averages,
         gpu::Queue& queue) {
  constexpr int lanes = 64, strip = 24;  // as the kernel has them
  // Rows that share running sums: many, so that their start does not count, and few, so that there is work for all.
  const int band = std::max(32, 4 * p.window_height);
  const int strips = (costs.width + strip - 1) / strip, blocks = (costs.disparities + lanes - 1) / lanes;
  queue.launch({"box", "average", "any"}, {strips * blocks, (costs.height + band - 1) / band, lanes, 1}, costs.cells,
               averages.cells, costs.width, costs.height, costs.disparities, p.radius_x(), p.radius_y(), band);
}

}  // namespace stereopsis::box
