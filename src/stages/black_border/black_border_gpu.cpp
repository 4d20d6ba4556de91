#include <limits>

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "stages/black_border/black_border.hpp"

namespace stereopsis::black_border {

std::size_t gpu_scratch_bytes(Size image) {
  const long long pixels = static_cast<long long>(image.width) * image.height;
  if (pixels >= std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("black regions cannot be found in an image of ", image.width, "×", image.height,
                     "; the limit is 2147483646 pixels, so set ConstantRegions::mask_black to false, or use smaller "
                     "images"));
  return sizeof(std::int32_t) * static_cast<std::size_t>(pixels + 1);
}

template <class T>
void gpu(const Parameters& p, const InputOf<T, gpu::View>& in, gpu::View<std::uint8_t> usable, gpu::Span scratch,
         gpu::Queue& queue) {
  const char* const instance = gpu::instance_of<T>();
  const auto labels = scratch.as<std::int32_t>();
  const Size size = in.image.size();
  queue.launch({"black_border", "start", instance}, gpu::over(size), in.image, in.mask, usable, labels,
               in.image.channels, p.level, p.first.x, p.first.y);
  queue.launch({"black_border", "unite", instance}, gpu::over(size), labels, size.width, size.height);
  queue.launch({"black_border", "exclude", instance}, gpu::over(usable.size()), usable, labels, size.width, p.first.x,
               p.first.y);
}

template void gpu(const Parameters&, const InputOf<std::uint8_t, gpu::View>&, gpu::View<std::uint8_t>, gpu::Span,
                  gpu::Queue&);
template void gpu(const Parameters&, const InputOf<std::uint16_t, gpu::View>&, gpu::View<std::uint8_t>, gpu::Span,
                  gpu::Queue&);
template void gpu(const Parameters&, const InputOf<float, gpu::View>&, gpu::View<std::uint8_t>, gpu::Span, gpu::Queue&);

}  // namespace stereopsis::black_border
