#include "device/gpu/device.hpp"
#include "stages/contrast/contrast.hpp"

namespace stereopsis::contrast {

template <class T>
void gpu(const Parameters& p, gpu::View<const T> image, gpu::View<std::uint8_t> validity, gpu::Queue& queue) {
  queue.launch({"contrast", "contrast", gpu::instance_of<T>()}, gpu::over(validity.size()), image, validity,
               image.channels, p.factor, p.first_row);
}

template void gpu(const Parameters&, gpu::View<const std::uint8_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint16_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const float>, gpu::View<std::uint8_t>, gpu::Queue&);

}  // namespace stereopsis::contrast
