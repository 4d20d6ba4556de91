// Grey of a colour image (ITU-R BT.601), and its 8-bit form.
//
//   integers   grey = (19595 R + 38470 G + 7471 B + 32768) >> 16: 0.299, 0.587 and 0.114 in 1/65536, which sum to
//              65536, so that white stays white; rounded to the nearest, and 32 bits hold it for 16-bit colours
//   float      grey = (0.299 R + 0.587 G) + 0.114 B, each step rounded to float
//   one channel is copied.
//
// A float pixel whose grey value is not finite becomes 0 and is not usable. No other value has a special meaning.
//
//   grey8      8-bit grey of a one-channel image, for guides and penalties: intensities in 8-bit units
//   integers   round(v · 255 / (2^bit_depth − 1)), which has no ties; values above 2^bit_depth − 1 count as that
//   float      ⌊v + 0.5⌋ of v clamped to 0…255, so that ties go up; NaN is 0
//
// Input: 8-bit, 16-bit or float, 1 or 3 (RGB) channels. Output: grey of the same type; usable, 255 or 0.
// Required input: the pixel alone.
// Cost: 3 products per pixel; reads and writes each pixel once.
#pragma once

#include "core/text.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::grey {

// `mask` (0 = not usable) may be empty if all pixels are usable. `usable` may be empty if it is not requested.
template <class T>
void oracle(ImageView<const T> image, ImageView<const std::uint8_t> mask, ImageView<T> grey,
            ImageView<std::uint8_t> usable);
template <class T>
void cpu(ImageView<const T> image, ImageView<const std::uint8_t> mask, ImageView<T> grey,
         ImageView<std::uint8_t> usable, Threads&);
template <class T>
void gpu(gpu::View<const T> image, gpu::View<const std::uint8_t> mask, gpu::View<T> grey,
         gpu::View<std::uint8_t> usable, gpu::Queue&);

template <class T>
void oracle8(ImageView<const T> grey, int bit_depth, ImageView<std::uint8_t> grey8);
template <class T>
void cpu8(ImageView<const T> grey, int bit_depth, ImageView<std::uint8_t> grey8, Threads&);
template <class T>
void gpu8(gpu::View<const T> grey, int bit_depth, gpu::View<std::uint8_t> grey8, gpu::Queue&);

inline void check_channels(int channels) {
  if (channels != 1 && channels != 3)
    throw Error(ErrorCategory::call, text("an image with ", channels,
                                          " channels cannot be matched; it must have 1 (grey) or 3 (RGB) channels"));
}

template <class T>
void check_bit_depth(int bit_depth) {
  if constexpr (std::is_same_v<T, float>) {
    if (bit_depth != 8)
      throw Error(
          ErrorCategory::call,
          text("the bit depth ", bit_depth,
               " is not allowed for a float image, whose values are in 8-bit units; scale it to 0…255 and set 8"));
  } else if (bit_depth < 1 || bit_depth > 8 * static_cast<int>(sizeof(T))) {
    throw Error(ErrorCategory::call, text("the bit depth ", bit_depth, " is not allowed; an image of ", 8 * sizeof(T),
                                          "-bit pixels may have 1 to ", 8 * sizeof(T)));
  }
}

}  // namespace stereopsis::grey
