#include "device/gpu/device.hpp"
#include "stages/discontinuity/discontinuity.hpp"

namespace stereopsis::discontinuity {

void gpu(const Parameters& p, gpu::Volume<const std::uint16_t> costs, int min_disparity,
         gpu::View<const float> disparity, gpu::View<float> adjusted, gpu::Queue& queue) {
  check_not_in_place(disparity, adjusted);
  queue.launch({"discontinuity", "discontinuity", "any"}, gpu::over(disparity.size()), costs.cells, disparity, adjusted,
               costs.disparities, min_disparity, static_cast<float>(p.edge));
}

}  // namespace stereopsis::discontinuity
