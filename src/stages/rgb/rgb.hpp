// Colours of both views in a common form: one word per pixel, in 8-bit units.
//
//   bits 0–7 red, 8–15 green, 16–23 blue; a grey image has three equal values
//   integers   round(v · 255 / (2^bit_depth − 1)), which has no ties; values above 2^bit_depth − 1 count as that
//   float      ⌊v + 0.5⌋ of v clamped to 0…255, so that ties go up
//
// A float pixel with a channel that is not finite becomes black and is not usable. No other value has a special
// meaning.
//
// Input: 8-bit, 16-bit or float, 1 or 3 (RGB) channels. Output: words; usable, 255 or 0.
// Required input: the pixel alone. Reads each pixel once and writes 4 or 5 bytes.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::rgb {

inline std::uint32_t word_of(int red, int green, int blue) {
  return static_cast<std::uint32_t>(red | green << 8 | blue << 16);
}

// `mask` (0 = not usable) may be empty if all pixels are usable. `usable` may be empty if it is not requested.
template <class T>
void oracle(ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask, ImageView<std::uint32_t> words,
            ImageView<std::uint8_t> usable);
template <class T>
void cpu(ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask, ImageView<std::uint32_t> words,
         ImageView<std::uint8_t> usable, Threads&);
template <class T>
void gpu(gpu::View<const T> image, int bit_depth, gpu::View<const std::uint8_t> mask, gpu::View<std::uint32_t> words,
         gpu::View<std::uint8_t> usable, gpu::Queue&);

}  // namespace stereopsis::rgb
