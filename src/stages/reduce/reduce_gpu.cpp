#include "device/gpu/device.hpp"
#include "stages/reduce/reduce.hpp"

namespace stereopsis::reduce {

template <class T>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<const std::uint8_t> mask, gpu::View<T> reduced,
         gpu::View<std::uint8_t> usable, gpu::Queue& queue) {
  const int side = p.sampling == Sampling::average ? p.factor : 1;
  const int columns = std::min(side, grey.width - (reduced.width - 1) * p.factor);
  const int rows = std::min(side, grey.height - (reduced.height - 1) * p.factor);
  const auto inverse = [](int count) { return 1.0f / static_cast<float>(count); };
  queue.launch({"reduce", "reduce", gpu::instance_of<T>()}, gpu::over(reduced.size()), grey, mask, reduced, usable,
               p.factor, side, inverse(side * side), inverse(columns * side), inverse(side * rows),
               inverse(columns * rows));
}

template void gpu(const Parameters&, gpu::View<const std::uint8_t>, gpu::View<const std::uint8_t>,
                  gpu::View<std::uint8_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint16_t>, gpu::View<const std::uint8_t>,
                  gpu::View<std::uint16_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const float>, gpu::View<const std::uint8_t>, gpu::View<float>,
                  gpu::View<std::uint8_t>, gpu::Queue&);

void scale_gpu(const Parameters& p, gpu::View<float> disparity, gpu::Queue& queue) {
  queue.launch({"reduce", "scale", "u8"}, gpu::over(disparity.size()), disparity, static_cast<float>(p.factor));
}

}  // namespace stereopsis::reduce
