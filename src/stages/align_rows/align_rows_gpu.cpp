#include "device/gpu/device.hpp"
#include "stages/align_rows/align_rows.hpp"

namespace stereopsis::align_rows {

template <class T>
void gpu(const Parameters& p, const InputOf<T, gpu::View>& in, const OutputOf<T, gpu::View>& out, gpu::Queue& queue) {
  check(in, out);
  queue.launch({"align_rows", "align_rows", gpu::instance_of<T>()}, gpu::over(out.image.size()), in.image, in.mask,
               out.image, out.usable, p, in.image.channels);
}

template void gpu(const Parameters&, const InputOf<std::uint8_t, gpu::View>&, const OutputOf<std::uint8_t, gpu::View>&,
                  gpu::Queue&);
template void gpu(const Parameters&, const InputOf<std::uint16_t, gpu::View>&,
                  const OutputOf<std::uint16_t, gpu::View>&, gpu::Queue&);
template void gpu(const Parameters&, const InputOf<float, gpu::View>&, const OutputOf<float, gpu::View>&, gpu::Queue&);

void map_gpu(const Parameters& p, gpu::View<const std::int32_t> map, gpu::View<std::int32_t> out, gpu::Queue& queue) {
  queue.launch({"align_rows", "align_map", gpu::instance_of<float>()}, gpu::over(out.size()), map, out, p);
}

void restore_gpu(const Parameters& p, gpu::View<const float> map, gpu::View<float> out, gpu::Queue& queue) {
  queue.launch({"align_rows", "restore_rows", gpu::instance_of<float>()}, gpu::over(out.size()), map, out, p);
}

}  // namespace stereopsis::align_rows
