// WebP through libwebp. Animations are rejected.
#include "core/text.hpp"
#include "io/codecs.hpp"

#ifdef STEREOPSIS_WEBP

#include <webp/decode.h>

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

}  // namespace stereopsis::io

#else

namespace stereopsis::io {

AnyImage decode_webp(Bytes) {
  throw Error(ErrorCategory::unsupported,
              "this is a WebP file, and this build cannot read WebP; convert it to PNG, or install libwebp-dev and "
              "build again");
}

}  // namespace stereopsis::io

#endif
