#include "device/gpu/device.hpp"
#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {

static_assert(mode_radius == 5);  // equal to RADIUS in propagation.cl

void gpu(const Parameters& p, const MapsOf<gpu::View>& maps, gpu::Queue& queue) {
  const auto& [colours, disparity, between, scratch, validity] = maps;
  const gpu::Grid pixels = gpu::over(disparity.size());
  queue.launch({"propagation", "remove_surrounded", "any"}, gpu::over(disparity.width), disparity, validity);
  for (const int columns : {1, 0}) {
    queue.launch({"propagation", "find_variations", "any"}, pixels, p.variation, columns, colours, scratch);
    queue.launch({"propagation", "keep_gradients", "any"}, pixels, columns, scratch, between);
    queue.launch({"propagation", "spread", "any"}, gpu::over(columns ? disparity.width : disparity.height), slight(p),
                 moderate(p), columns, disparity, between, scratch, validity);
  }
  queue.launch({"propagation", "filter_modes", "any"}, pixels, 1, disparity, between, validity);
  queue.launch({"propagation", "filter_modes", "any"}, pixels, 0, between, disparity, validity);
}

}  // namespace stereopsis::propagation
