#include "device/gpu/device.hpp"
#include "stages/hsv/hsv.hpp"

namespace stereopsis::hsv {

template <class T>
void gpu(const Weighting& w, gpu::View<const T> image, int bit_depth, gpu::View<const std::uint8_t> mask,
         gpu::View<std::uint32_t> words, gpu::View<std::uint8_t> usable, gpu::Queue& queue) {
  queue.launch({"hsv", "hsv", gpu::instance_of<T>()}, gpu::over(words.size()), image, image.channels,
               (1 << bit_depth) - 1, w.space == Space::rgb ? 1 : 0, w.scales[0], w.scales[1], w.scales[2], mask, words,
               usable);
}

template void gpu(const Weighting&, gpu::View<const std::uint8_t>, int, gpu::View<const std::uint8_t>,
                  gpu::View<std::uint32_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Weighting&, gpu::View<const std::uint16_t>, int, gpu::View<const std::uint8_t>,
                  gpu::View<std::uint32_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Weighting&, gpu::View<const float>, int, gpu::View<const std::uint8_t>,
                  gpu::View<std::uint32_t>, gpu::View<std::uint8_t>, gpu::Queue&);

}  // namespace stereopsis::hsv
