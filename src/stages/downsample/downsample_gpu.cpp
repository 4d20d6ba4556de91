#include "device/gpu/device.hpp"
#include "stages/downsample/downsample.hpp"

namespace stereopsis::downsample {

template <class T>
void gpu(int factor, gpu::View<const T> image, gpu::View<T> out, gpu::Queue& queue) {
  const gpu::Grid grid = gpu::over(Size{out.width * out.channels, out.height});
  queue.launch({"downsample", "downsample", gpu::instance_of<T>()}, grid, image, out.channels, factor,
               1.0f / static_cast<float>(factor * factor), out);
}

template void gpu(int, gpu::View<const std::uint8_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(int, gpu::View<const std::uint16_t>, gpu::View<std::uint16_t>, gpu::Queue&);
template void gpu(int, gpu::View<const float>, gpu::View<float>, gpu::Queue&);

}  // namespace stereopsis::downsample
