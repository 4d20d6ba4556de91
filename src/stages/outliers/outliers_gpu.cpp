#include "device/gpu/device.hpp"
#include "stages/outliers/outliers.hpp"

namespace stereopsis::outliers {

void gpu(const Parameters& p, gpu::View<const float> right, const MapOf<gpu::View>& map, gpu::Queue& queue) {
  check_sizes(right, map.disparity);
  constexpr int items = 256;
  queue.launch({"outliers", "outliers", "any"}, {map.disparity.height, 1, items, 1}, right, map.disparity, map.validity,
               map.kinds, static_cast<float>(p.threshold));
}

}  // namespace stereopsis::outliers
