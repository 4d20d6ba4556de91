#include "device/gpu/device.hpp"
#include "stages/difference/difference.hpp"

namespace stereopsis::difference {

template <class T>
void gpu(Space space, gpu::View<const T> image, gpu::View<std::uint32_t> words, gpu::Queue& queue) {
  queue.launch({"difference", "words", sizeof(T) == 1 ? "u8" : "u32"}, gpu::over(words.size()), image, words,
               space == Space::lab ? 1 : 0);
}

template void gpu(Space, gpu::View<const std::uint8_t>, gpu::View<std::uint32_t>, gpu::Queue&);
template void gpu(Space, gpu::View<const std::uint32_t>, gpu::View<std::uint32_t>, gpu::Queue&);

}  // namespace stereopsis::difference
