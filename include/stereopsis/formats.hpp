// Converts images of cameras, drivers and other libraries: pitches in bytes, BGR, alpha, NV12, Bayer mosaics. Plans
// read such images without a copy (Problem::format), with the results that this file defines. For other uses, to_rgb()
// converts the images to RGB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stereopsis/device_image.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

namespace detail {
// Returns the pitch in elements for a pitch in bytes. Throws Error(call) if rows or pixels are not aligned to the
// element's size.
std::ptrdiff_t pitch_of_bytes(std::uintptr_t address, std::size_t byte_pitch, std::size_t element_bytes);
}  // namespace detail

// Returns a view of rows that are `byte_pitch` bytes apart, without a copy.
template <class T>
ImageView<T> view_with_byte_pitch(T* data, Size size, int channels, std::size_t byte_pitch) {
  return {data, size.width, size.height, channels,
          detail::pitch_of_bytes(reinterpret_cast<std::uintptr_t>(data), byte_pitch, sizeof(T))};
}
AnyImageView any_view_with_byte_pitch(const void* data, PixelType type, Size size, int channels, std::size_t byte_pitch,
                                      int bit_depth = 0);
DeviceImageView device_view_with_byte_pitch(std::uint64_t address, PixelType type, Size size, int channels,
                                            std::size_t byte_pitch, int bit_depth = 0);

// Converts an image to RGB of the same type, with the same result as in plans. The memory of `rgb` is reused if it
// fits.
//
//   bgr, rgba, bgra  the channels, in their order
//   nv12             ITU-R BT.601, luma 16 to 235: c = y − 16, d = u − 128, e = v − 128; R = (298c + 409e + 128) >> 8,
//                    G = (298c − 100d − 208e + 128) >> 8, B = (298c + 516d + 128) >> 8, clipped to 0…255
//   bayer            bilinear: a colour that a pixel lacks is the mean of the 2 or 4 nearest pixels that have it,
//                    rounded to nearest, halves up (float: each step rounded to float). Pixels outside the image are
//                    mirrored at the edge pixel, so that they have the right colour
void to_rgb(const AnyImageView& image, PixelFormat format, AnyImage& rgb, int threads = 0);

// Returns the luma of an NV12 image as a grey image, without a copy. Stages that read grey images read this luma.
AnyImageView luma_of_nv12(const AnyImageView& image);

}  // namespace stereopsis
