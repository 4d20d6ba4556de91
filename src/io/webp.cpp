// WebP through libwebp: reads all still images, and writes 8 bits without loss. Animations are rejected.
#include "core/text.hpp"
#include "io/codecs.hpp"

#ifdef STEREOPSIS_WEBP

#include <webp/decode.h>
#include <webp/encode.h>

#include <memory>

namespace stereopsis::io {

AnyImage decode_webp(Bytes file) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, file.size(), &features) != VP8_STATUS_OK)
    throw Error(ErrorCategory::format, "the WebP data cannot be decoded; the file is damaged or cut off");
  if (features.has_animation != 0)
    throw Error(ErrorCategory::unsupported, "the WebP is an animation; give its frames as single images");
  check_as_compressed({"WebP", features.width, features.height, 3, 8}, file.size());
  Image<std::uint8_t> image(features.width, features.height, 3);
  const auto pitch = static_cast<int>(image.view().pitch);
  if (WebPDecodeRGBInto(data, file.size(), image.row(0), static_cast<std::size_t>(pitch) * features.height, pitch) ==
      nullptr)
    throw Error(ErrorCategory::format, "the WebP data cannot be decoded; the file is damaged or cut off");
  return image;
}

// WebP has no grey pixels, so that they are written as colours.
std::string encode_webp(AnyImageView image) {
  if (image.width > WEBP_MAX_DIMENSION || image.height > WEBP_MAX_DIMENSION)
    throw Error(ErrorCategory::call, text("a WebP file cannot store ", image.width, "×", image.height,
                                          " pixels; at most ", WEBP_MAX_DIMENSION, " a side are allowed; use .png"));
  const ImageView<const std::uint8_t> pixels = image.as<std::uint8_t>();
  Image<std::uint8_t> colours(image.width, image.height, 3);
  for (int y = 0; y < image.height; ++y)
    for (int i = 0; i < 3 * image.width; ++i) colours.row(y)[i] = pixels.row(y)[image.channels == 3 ? i : i / 3];
  std::uint8_t* file = nullptr;
  const std::size_t size =
      WebPEncodeLosslessRGB(colours.row(0), image.width, image.height, static_cast<int>(colours.view().pitch), &file);
  const std::unique_ptr<std::uint8_t, decltype(&WebPFree)> owner(file, WebPFree);
  if (size == 0) throw Error(ErrorCategory::memory, "the WebP cannot be encoded; free memory, or use .png");
  return {reinterpret_cast<const char*>(file), size};
}

}  // namespace stereopsis::io

#else

namespace stereopsis::io {
namespace {
[[noreturn]] void refuse() {
  throw Error(ErrorCategory::unsupported, "this build has no WebP; use PNG, or install libwebp-dev and build again");
}
}  // namespace
AnyImage decode_webp(Bytes) { refuse(); }
std::string encode_webp(AnyImageView) { refuse(); }

}  // namespace stereopsis::io

#endif
