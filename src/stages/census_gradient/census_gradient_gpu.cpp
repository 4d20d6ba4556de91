#include "device/gpu/device.hpp"
#include "stages/census_gradient/census_gradient.hpp"

namespace stereopsis::census_gradient {

template <class T>
void gpu(gpu::View<const T> grey, gpu::View<const std::uint8_t> grey8, gpu::View<std::uint32_t> words,
         gpu::Queue& queue) {
  queue.launch({"census_gradient", "census_gradient", gpu::instance_of<T>()}, gpu::over(words.size()), grey, grey8,
               words);
}

using Bytes = gpu::View<const std::uint8_t>;
template void gpu(gpu::View<const std::uint8_t>, Bytes, gpu::View<std::uint32_t>, gpu::Queue&);
template void gpu(gpu::View<const std::uint16_t>, Bytes, gpu::View<std::uint32_t>, gpu::Queue&);
template void gpu(gpu::View<const float>, Bytes, gpu::View<std::uint32_t>, gpu::Queue&);

}  // namespace stereopsis::census_gradient
