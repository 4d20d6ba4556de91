#include "device/gpu/device.hpp"
#include "stages/weighted_median/weighted_median.hpp"

namespace stereopsis::weighted_median {
void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::View<float> filtered, gpu::Queue& queue) {
  check_not_in_place(in.disparity, filtered);
  queue.launch({"weighted_median", "weighted_median", "any"}, gpu::over(filtered.size()), in.disparity, in.validity,
               in.image, filtered, in.image.channels, p.radius, weights(p));
}

}  // namespace stereopsis::weighted_median
