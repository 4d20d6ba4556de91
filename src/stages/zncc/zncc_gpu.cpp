#include "device/gpu/device.hpp"
#include "stages/zncc/zncc.hpp"

namespace stereopsis::zncc {

template <class T>
void samples_gpu(gpu::View<const T> grey, int bit_depth, gpu::View<std::int16_t> samples, gpu::Queue& queue) {
  queue.launch({"zncc", "samples", gpu::instance_of<T>()}, gpu::over(samples.size()), grey, samples, bit_depth);
}

template void samples_gpu(gpu::View<const std::uint8_t>, int, gpu::View<std::int16_t>, gpu::Queue&);
template void samples_gpu(gpu::View<const std::uint16_t>, int, gpu::View<std::int16_t>, gpu::Queue&);
template void samples_gpu(gpu::View<const float>, int, gpu::View<std::int16_t>, gpu::Queue&);

}  // namespace stereopsis::zncc
