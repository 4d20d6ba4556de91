#include "device/gpu/device.hpp"
#include "stages/pixel_format/pixel_format.hpp"

namespace stereopsis::pixel_format {

template <class T>
void gpu(const Parameters& p, const InputOf<T, gpu::View>& in, gpu::View<T> rgb, gpu::Queue& queue) {
  const auto launch = [&](const char* kernel, const auto&... arguments) {
    queue.launch({"pixel_format", kernel, gpu::instance_of<T>()}, gpu::over(rgb.size()), in.image, arguments...);
  };
  const Mosaic mosaic(p.format);
  if (is_bayer(p.format))
    launch("bayer", rgb, p.first.x, p.first.y, mosaic.red_x, mosaic.red_y);
  else if (p.format == PixelFormat::nv12)
    launch("nv12", in.chroma, rgb, p.first.x, p.first.y);
  else
    launch("channel_order", rgb, in.image.channels, p.format == PixelFormat::rgba ? 0 : 2);
}

template void gpu(const Parameters&, const InputOf<std::uint8_t, gpu::View>&, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, const InputOf<std::uint16_t, gpu::View>&, gpu::View<std::uint16_t>, gpu::Queue&);
template void gpu(const Parameters&, const InputOf<float, gpu::View>&, gpu::View<float>, gpu::Queue&);

}  // namespace stereopsis::pixel_format
