#include "device/gpu/device.hpp"
#include "stages/rgb/rgb.hpp"

namespace stereopsis::rgb {

template <class T>
void gpu(gpu::View<const T> image, int bit_depth, gpu::View<const std::uint8_t> mask, gpu::View<std::uint32_t> words,
         gpu::View<std::uint8_t> usable, gpu::Queue& queue) {
  queue.launch({"rgb", "words", gpu::instance_of<T>()}, gpu::over(words.size()), image, mask, words, usable,
               image.channels, (1 << bit_depth) - 1);
}

using Mask = gpu::View<const std::uint8_t>;
using Words = gpu::View<std::uint32_t>;
using Bytes = gpu::View<std::uint8_t>;
template void gpu(gpu::View<const std::uint8_t>, int, Mask, Words, Bytes, gpu::Queue&);
template void gpu(gpu::View<const std::uint16_t>, int, Mask, Words, Bytes, gpu::Queue&);
template void gpu(gpu::View<const float>, int, Mask, Words, Bytes, gpu::Queue&);

}  // namespace stereopsis::rgb
