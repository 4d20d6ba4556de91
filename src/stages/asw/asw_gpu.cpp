#include "device/gpu/device.hpp"
#include "stages/asw/asw.hpp"

namespace stereopsis::asw {

void gpu(const Parameters& p, gpu::View<const std::uint32_t> lab_left, gpu::View<const std::uint32_t> lab_right,
         int min_disparity, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> aggregated,
         gpu::Queue& queue) {
  constexpr int tile_x = 32, tile_d = 64, items = 256;  // the same values as in asw.cl
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  const int d_tiles = (costs.disparities + tile_d - 1) / tile_d;
  const gpu::Grid grid{(costs.width + tile_x - 1) / tile_x, costs.height * d_tiles, items, 1};
  queue.launch({"asw", "aggregate", "any"}, grid, lab_left, lab_right, costs.cells, aggregated.cells,
               support_weight::make_table(), costs.disparities, min_disparity, p.radius_x(), p.radius_y(),
               scales.colour, scales.distance);
}

}  // namespace stereopsis::asw
