#include "device/gpu/device.hpp"
#include "nearest.hpp"

namespace stereopsis::nearest {

void gpu(const Parameters& p, gpu::View<float> disparity, gpu::View<std::uint8_t> validity, gpu::Queue& queue) {
  queue.launch({"nearest", "nearest", "any"}, gpu::over(disparity.size()), disparity, validity,
               static_cast<float>(p.least));
}

}  // namespace stereopsis::nearest
