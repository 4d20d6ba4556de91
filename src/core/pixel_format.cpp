#include <array>

#include "core/text.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

std::string to_string(PixelFormat format) {
  constexpr std::array names{"BGR", "RGBA", "BGRA", "NV12", "Bayer RGGB", "Bayer BGGR", "Bayer GRBG", "Bayer GBRG"};
  return names[static_cast<std::size_t>(format)];
}

bool is_bayer(PixelFormat format) { return format >= PixelFormat::bayer_rggb; }

int channels_of(PixelFormat format) {
  return format == PixelFormat::bgr ? 3 : format == PixelFormat::rgba || format == PixelFormat::bgra ? 4 : 1;
}

Size image_size(Size picture, PixelFormat format) {
  return {picture.width, format == PixelFormat::nv12 ? picture.height / 2 * 3 : picture.height};
}

Size picture_size(const AnyImageView& image, PixelFormat format) {
  const auto wrong = [&](const char* must) {
    throw Error(ErrorCategory::call,
                text("an image of ", image.width, "×", image.height, " pixels with ", image.channels, " channels of ",
                     to_string(image.type), " cannot have the format ", to_string(format), "; it must have ", must));
  };
  if (image.empty() || image.channels != channels_of(format))
    wrong(channels_of(format) == 4 ? "4 channels" : channels_of(format) == 3 ? "3 channels" : "one channel");
  if (is_bayer(format) && (image.width < 2 || image.height < 2)) wrong("at least 2×2 pixels");
  if (format != PixelFormat::nv12) return image.size();
  if (image.type != PixelType::u8 || image.width % 2 != 0 || image.height % 3 != 0)
    wrong("8-bit pixels, an even width, and 1.5 times as many rows as the picture, which has an even number of rows");
  return {image.width, image.height / 3 * 2};
}

}  // namespace stereopsis
