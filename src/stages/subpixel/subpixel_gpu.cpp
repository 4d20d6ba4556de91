#include "device/gpu/device.hpp"
#include "stages/subpixel/subpixel.hpp"

namespace stereopsis::subpixel {

void gpu(const Parameters&, gpu::Volume<const std::uint16_t> costs, int min_disparity, gpu::View<float> disparity,
         gpu::Queue& queue) {
  queue.launch({"subpixel", "subpixel", "any"}, gpu::over(disparity.size()), costs.cells, disparity, costs.disparities,
               min_disparity);
}

}  // namespace stereopsis::subpixel
