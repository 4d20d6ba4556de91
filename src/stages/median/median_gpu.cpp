#include "device/gpu/device.hpp"
#include "stages/median/median.hpp"

namespace stereopsis::median {

void gpu(const Parameters& p, gpu::View<const float> disparity, gpu::View<float> filtered, gpu::Queue& queue) {
  check_not_in_place(disparity, filtered);
  queue.launch({"median", "median", p.window == 3 ? "w3" : "w5"}, gpu::over(filtered.size()), disparity, filtered);
}

}  // namespace stereopsis::median
