#include "device/gpu/device.hpp"
#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {

void gpu(const Parameters& p, const MapsOf<gpu::View>& maps, gpu::Queue& queue) {
  const auto pass = [&](bool columns, int lines, const auto& from, const auto& to) {
    queue.launch({"propagation", "propagate", "any"}, gpu::over(lines), p.reliability, p.variation, columns ? 1 : 0,
                 maps.colours, from, to, maps.scratch, maps.validity);
  };
  pass(true, maps.disparity.width, maps.disparity, maps.between);
  pass(false, maps.disparity.height, maps.between, maps.disparity);
}

}  // namespace stereopsis::propagation
