#include "device/gpu/device.hpp"
#include "stages/interpolation/interpolation.hpp"

namespace stereopsis::interpolation {

void gpu(const Parameters&, const InputOf<gpu::View>& in, gpu::View<float> filled, gpu::View<std::uint8_t> validity,
         gpu::Queue& queue) {
  check_images(in, filled);
  queue.launch({"interpolation", "interpolation", "any"}, gpu::over(filled.size()), in.disparity, in.image, in.kinds,
               filled, validity, in.image.channels);
}

}  // namespace stereopsis::interpolation
