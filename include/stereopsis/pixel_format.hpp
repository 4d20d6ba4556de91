// Pixel formats of images that are neither grey nor RGB.
#pragma once

#include <cstdint>
#include <string>

#include "stereopsis/image.hpp"

namespace stereopsis {

// The layout of colours in memory, as delivered by cameras and decoders; stereopsis/formats.hpp defines their
// conversion to RGB. Pairs in these formats are matched without a copy, with Problem::format and StereoPair::format.
enum class PixelFormat : std::uint8_t {
  bgr,   // 3 channels
  rgba,  // 4 channels; alpha is dropped
  bgra,
  nv12,  // 8 bits: luma, below it chroma of half the size, alternating u and v; one channel and height · 3/2 rows
  bayer_rggb,  // one channel; named by the colours of the first two pixels of the first two rows
  bayer_bggr,
  bayer_grbg,
  bayer_gbrg
};
std::string to_string(PixelFormat format);  // for people
bool is_bayer(PixelFormat format);          // returns true for a mosaic
int channels_of(PixelFormat format);        // channels of an image in that format
// Returns the size of the image in that format that holds a picture of this size.
Size image_size(Size picture, PixelFormat format);

}  // namespace stereopsis
