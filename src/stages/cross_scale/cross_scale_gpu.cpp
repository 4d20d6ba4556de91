#include "device/gpu/device.hpp"
#include "stages/cross_scale/cross_scale.hpp"

namespace stereopsis::cross_scale {

void gpu_halve(gpu::View<const std::uint8_t> image, gpu::View<std::uint8_t> halved, gpu::Queue& queue) {
  queue.launch({"cross_scale", "halve", "any"}, gpu::over(Size{halved.width * halved.channels, halved.height}), image,
               halved, halved.channels);
}

void gpu_combine(const Level& level, float weight, float coarse_weight, gpu::Volume<const float> coarse,
                 gpu::Volume<float> costs, gpu::Queue& queue) {
  const gpu::Grid row = gpu::over(costs.width * costs.disparities);
  queue.launch({"cross_scale", "combine", "any"}, {row.groups_x, costs.height, row.items_x, 1}, coarse.cells,
               coarse.width, coarse.disparities, costs.cells, costs.width, costs.height, costs.disparities, level.s,
               level.from_right ? 1 : 0, level.min_disparity, level.coarse_min_disparity, level.first_row,
               level.coarse_first_row, weight, coarse_weight);
}

}  // namespace stereopsis::cross_scale
