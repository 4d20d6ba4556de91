// Pixel formats of images that are neither grey nor RGB.
#pragma once

#include <cstdint>
#include <string>

#include "stereopsis/image.hpp"

namespace stereopsis {

// Layout of colours in memory, as cameras and decoders deliver it. The header stereopsis/formats.hpp defines the
// conversion to RGB. Pairs in these formats are matched without a copy, with Problem::format and StereoPair::format.
enum class PixelFormat : std::uint8_t {
  bgr,   // 3 channels
  rgba,  // 4 channels; alpha is dropped
  bgra,
  // 8 bits; luma, followed by chroma of half the size with alternating u and v; one channel and height · 3/2 rows.
  nv12,
  bayer_rggb,  // one channel; the name has the colours of the first two pixels of the first two rows
  bayer_bggr,
  bayer_grbg,
  bayer_gbrg
};
std::string to_string(PixelFormat format);  // for people
bool is_bayer(PixelFormat format);          // returns true for a Bayer mosaic
int channels_of(PixelFormat format);        // returns the number of channels of an image in that format
// Returns the size of an image in that format that holds a picture of this size.
Size image_size(Size picture, PixelFormat format);

// Returns the size of the picture that an image in this format holds. Throws Error(call) if the image cannot have that
// format.
Size picture_size(const AnyImageView& image, PixelFormat format);

}  // namespace stereopsis
