#include "device/gpu/device.hpp"
#include "stages/remap/remap.hpp"

namespace stereopsis::remap {

template <class T>
void gpu(const InputOf<T, gpu::View>& in, const OutputOf<T, gpu::View>& out, gpu::Queue& queue) {
  check(in, out);
  queue.launch({"remap", "remap", gpu::instance_of<T>()}, gpu::over(out.image.size()), in.image, in.mask, in.map,
               out.image, out.usable, in.image.channels);
}

template void gpu(const InputOf<std::uint8_t, gpu::View>&, const OutputOf<std::uint8_t, gpu::View>&, gpu::Queue&);
template void gpu(const InputOf<std::uint16_t, gpu::View>&, const OutputOf<std::uint16_t, gpu::View>&, gpu::Queue&);
template void gpu(const InputOf<float, gpu::View>&, const OutputOf<float, gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::remap
