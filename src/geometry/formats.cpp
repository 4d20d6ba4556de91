#include "stereopsis/formats.hpp"

#include "core/text.hpp"
#include "stages/pixel_format/pixel_format.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {
namespace {

std::size_t bytes_of(PixelType type) { return type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4; }
int depth_or(int bit_depth, PixelType type) { return bit_depth != 0 ? bit_depth : type == PixelType::u16 ? 16 : 8; }

}  // namespace

std::ptrdiff_t detail::pitch_of_bytes(std::uintptr_t address, std::size_t byte_pitch, std::size_t element_bytes) {
  if (byte_pitch % element_bytes != 0 || address % element_bytes != 0)
    throw Error(ErrorCategory::call,
                text("rows that are ", byte_pitch, " bytes apart and begin at ", address,
                     " are not aligned to elements of ", element_bytes, " bytes; copy them into an Image"));
  return static_cast<std::ptrdiff_t>(byte_pitch / element_bytes);
}

AnyImageView any_view_with_byte_pitch(const void* data, PixelType type, Size size, int channels, std::size_t byte_pitch,
                                      int bit_depth) {
  AnyImageView v;
  v.data = data;
  v.type = type;
  v.width = size.width;
  v.height = size.height;
  v.channels = channels;
  v.pitch = detail::pitch_of_bytes(reinterpret_cast<std::uintptr_t>(data), byte_pitch, bytes_of(type));
  v.bit_depth = depth_or(bit_depth, type);
  return v;
}

DeviceImageView device_view_with_byte_pitch(std::uint64_t address, PixelType type, Size size, int channels,
                                            std::size_t byte_pitch, int bit_depth) {
  return {address,
          0,
          type,
          size.width,
          size.height,
          channels,
          detail::pitch_of_bytes(address, byte_pitch, bytes_of(type)),
          depth_or(bit_depth, type)};
}

void to_rgb(const AnyImageView& image, PixelFormat format, AnyImage& rgb, [[maybe_unused]] int threads) {
  const Size size = picture_size(image, format);
  with_pixels(image, [&]<class T>(const ImageView<const T>& pixels) {
    auto* made = std::get_if<Image<T>>(&rgb.pixels);
    if (made == nullptr || made->size() != size || made->channels() != 3) {
      rgb.pixels = Image<T>(size, 3);
      made = std::get_if<Image<T>>(&rgb.pixels);
    }
    rgb.bit_depth = image.bit_depth;
    pixel_format::InputOf<T, ImageView> in{pixels, {}};
    if (format == PixelFormat::nv12)
      in.chroma = {pixels.row(size.height), size.width / 2, size.height / 2, 2, pixels.pitch};
#ifdef STEREOPSIS_SIMD
    if (has_simd()) {
      Threads workers(threads);
      return pixel_format::cpu<T>({format}, in, *made, workers);
    }
#endif
    pixel_format::oracle<T>({format}, in, *made);
  });
}

AnyImageView luma_of_nv12(const AnyImageView& image) {
  const Size size = picture_size(image, PixelFormat::nv12);
  return image.crop({0, 0, size.width, size.height});
}

}  // namespace stereopsis
