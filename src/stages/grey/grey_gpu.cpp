#include "device/gpu/device.hpp"
#include "stages/grey/grey.hpp"

namespace stereopsis::grey {

template <class T>
void gpu(gpu::View<const T> image, gpu::View<const std::uint8_t> mask, gpu::View<T> grey,
         gpu::View<std::uint8_t> usable, gpu::Queue& queue) {
  check_channels(image.channels);
  queue.launch({"grey", "grey", gpu::instance_of<T>()}, gpu::over(grey.size()), image, mask, grey, usable,
               image.channels);
}

template <class T>
void gpu8(gpu::View<const T> grey, int bit_depth, gpu::View<std::uint8_t> grey8, gpu::Queue& queue) {
  check_bit_depth<T>(bit_depth);
  queue.launch({"grey", "grey8", gpu::instance_of<T>()}, gpu::over(grey8.size()), grey, grey8, (1 << bit_depth) - 1);
}

using Bytes = gpu::View<std::uint8_t>;
using Mask = gpu::View<const std::uint8_t>;
template void gpu(gpu::View<const std::uint8_t>, Mask, gpu::View<std::uint8_t>, Bytes, gpu::Queue&);
template void gpu(gpu::View<const std::uint16_t>, Mask, gpu::View<std::uint16_t>, Bytes, gpu::Queue&);
template void gpu(gpu::View<const float>, Mask, gpu::View<float>, Bytes, gpu::Queue&);
template void gpu8(gpu::View<const std::uint8_t>, int, Bytes, gpu::Queue&);
template void gpu8(gpu::View<const std::uint16_t>, int, Bytes, gpu::Queue&);
template void gpu8(gpu::View<const float>, int, Bytes, gpu::Queue&);

}  // namespace stereopsis::grey
