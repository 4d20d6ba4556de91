// Images as cameras, drivers and other libraries have them: rows counted in bytes, BGR, alpha, NV12, Bayer mosaics. Plans read such
// images as they lie (Problem::format) and see what is defined here; for all else, to_rgb() makes RGB of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stereopsis/device_image.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

namespace detail {
// In elements. Throws Error(call) where rows or pixels would not lie at multiples of the element's size.
std::ptrdiff_t pitch_of_bytes(std::uintptr_t address, std::size_t byte_pitch, std::size_t element_bytes);
}  // namespace detail

// Views on rows that are `byte_pitch` bytes apart, without a copy.
template <class T>
ImageView<T> view_with_byte_pitch(T* data, Size size, int channels, std::size_t byte_pitch) {
  return {data, size.width, size.height, channels,
          detail::pitch_of_bytes(reinterpret_cast<std::uintptr_t>(data), byte_pitch, sizeof(T))};
}
AnyImageView any_view_with_byte_pitch(const void* data, PixelType type, Size size, int channels, std::size_t byte_pitch,
                                      int bit_depth = 0);
DeviceImageView device_view_with_byte_pitch(std::uint64_t address, PixelType type, Size size, int channels,
                                            std::size_t byte_pitch, int bit_depth = 0);

// The size of the picture in such an image. Throws Error(call) for an image that can't be of that format.
Size picture_size(const AnyImageView& image, PixelFormat format);

// In RGB, of the same type, as plans see it too: into `rgb`, which is reused where it fits.
//
//   bgr, rgba, bgra  the channels, in their order
//   nv12             ITU-R BT.601, luma 16 to 235: c = y − 16, d = u − 128, e = v − 128;
//                    R = (298c + 409e + 128) >> 8, G = (298c − 100d − 208e + 128) >> 8, B = (298c + 516d + 128) >> 8, clipped to 0…255
//   bayer            bilinear: a colour that a pixel does not have is the mean of the 2 or 4 nearest that have it, rounded to nearest, halves
//                    up (float: each step rounded to float); what lies outside is mirrored at the edge pixel, so that it has the colour
//                    that is due
void to_rgb(const AnyImageView& image, PixelFormat format, AnyImage& rgb, int threads = 0);

// The luma of an NV12 image as a grey one, without a copy: what a plan's stages see where they read grey images.
AnyImageView luma_of_nv12(const AnyImageView& image);

}  // namespace stereopsis
