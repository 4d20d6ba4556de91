#include "device/gpu/device.hpp"
#include "stages/asw_separable/asw_separable.hpp"

namespace stereopsis::asw_separable {

std::size_t gpu_weights_bytes(const Parameters& p, Size size) {
  return static_cast<std::size_t>(size.width) * size.height * p.window;
}

void gpu(const Parameters& p, gpu::View<const std::uint32_t> lab, gpu::Volume<const std::uint8_t> costs,
         gpu::Volume<std::uint16_t> horizontal, gpu::Volume<std::uint16_t> aggregated, gpu::Span weights,
         gpu::Queue& queue) {
  const auto table = support_weight::make_table();
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  const int radius = p.window / 2;
  constexpr int run = 8;  // number of disparities of a work-item in asw_separable.cl
  gpu::Grid grid = gpu::over(costs.width * ((costs.disparities + run - 1) / run));
  grid.groups_y = costs.height;
  const auto pass = [&](const char* instance, const auto& from, const auto& to) {
    queue.launch({"asw_separable", "weights", instance}, gpu::over(lab.size()), lab, weights.as<std::uint8_t>(), table,
                 radius, scales.colour, scales.distance);
    queue.launch({"asw_separable", "average", instance}, grid, lab, weights.as<const std::uint8_t>(), from.cells,
                 to.cells, costs.disparities, radius);
  };
  pass("horizontal", costs, horizontal);
  pass("vertical", gpu::Volume<const std::uint16_t>(horizontal), aggregated);
}

}  // namespace stereopsis::asw_separable
