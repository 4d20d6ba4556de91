#include "device/gpu/device.hpp"
#include "stages/checked_map/checked_map.hpp"

namespace stereopsis::checked_map {

void gpu(const Parameters& p, const Maps<gpu::View>& m, gpu::Queue& queue) {
  queue.launch({"checked_map", "checked_map", "any"}, gpu::over(m.disparity.size()), m.disparity, m.validity,
               m.confidence, m.mask, p.first, p.last, p.from_right ? 1 : 0);
}

}  // namespace stereopsis::checked_map
