// Which formats pictures may have that are neither grey nor RGB.
#pragma once

#include <cstdint>
#include <string>

#include "stereopsis/image.hpp"

namespace stereopsis {

// How colours lie in memory, as cameras and decoders give them; stereopsis/formats.hpp defines what RGB each means. Pairs are matched as
// they lie where Problem::format and StereoPair::format say how.
enum class PixelFormat : std::uint8_t {
  bgr,   // 3 channels
  rgba,  // 4 channels; alpha is dropped
  bgra,
  nv12,  // 8 bits: luma, below it chroma of half the size, u and v in turn; as an image of one channel and height · 3/2
  bayer_rggb,  // one channel; by the colours of the first two pixels of the first two rows
  bayer_bggr,
  bayer_grbg,
  bayer_gbrg
};
std::string to_string(PixelFormat format);  // for people
bool is_bayer(PixelFormat format);          // whether it is a mosaic
int channels_of(PixelFormat format);        // of an image in it
// The size of an image in that format which holds such a picture.
Size image_size(Size picture, PixelFormat format);

}  // namespace stereopsis
