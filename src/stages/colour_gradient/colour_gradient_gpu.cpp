#include "device/gpu/device.hpp"
#include "stages/colour_gradient/colour_gradient.hpp"

namespace stereopsis::colour_gradient {

void gpu(gpu::View<const std::uint8_t> image, gpu::View<const std::uint8_t> grey, gpu::View<std::uint64_t> words,
         gpu::Queue& queue) {
  queue.launch({"colour_gradient", "colour_gradient", "any"}, gpu::over(words.size()), image, grey, words,
               image.channels);
}

}  // namespace stereopsis::colour_gradient
