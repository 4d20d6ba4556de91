#include "device/gpu/device.hpp"
#include "stages/measured_confidence/measured_confidence.hpp"

namespace stereopsis::measured_confidence {

void gpu(gpu::View<const std::uint8_t> validity, gpu::View<float> confidence, gpu::Queue& queue) {
  queue.launch({"measured_confidence", "measured_confidence", "any"}, gpu::over(confidence.size()), validity,
               confidence);
}

}  // namespace stereopsis::measured_confidence
