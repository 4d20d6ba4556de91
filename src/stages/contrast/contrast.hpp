// Pixels without contrast are not measured: where the window around a pixel has one value, its own costs hold no
// information. The disparity of such a pixel comes from other pixels. The stage is our own.
//
// W(x, y) are the pixels of the image with f x − 3 ≤ u ≤ f x + f + 2 and f (y + first_row) − 3 ≤ v ≤ f (y + first_row) +
// f + 2: the 7×7 window around a pixel for f = 1, and around all pixels of a block of f × f for reduced maps. At the
// border, the edge pixels are replicated, which add no value.
//
//   V'(x, y) = filled (64) if V(x, y) is 0 and all pixels of W(x, y) are equal in all channels; otherwise V(x, y)
//
// Float pixels are compared as numbers: a NaN differs from every other pixel.
//
// Input: an image of 8-bit, 16-bit or float pixels with 1 or 3 channels. Input and output, in place: validity.
// Required input: 3 pixels on each side.
// Cost: 2 comparisons per pixel and channel, and 13 operations on bytes. On a GPU, a pixel is compared with its window
// up to the first difference.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::contrast {

inline constexpr int reach = 3;  // half the width of the window

struct Parameters {
  int factor = 1;     // width of a pixel of the map, in pixels of the image
  int first_row = 0;  // row of the map's first row, for a map of a part of the rows
};

// T is uint8_t, uint16_t or float.
template <class T>
void oracle(const Parameters&, ImageView<const T> image, ImageView<std::uint8_t> validity);

template <class T>
void cpu(const Parameters&, ImageView<const T> image, ImageView<std::uint8_t> validity, Threads&);

template <class T>
void gpu(const Parameters&, gpu::View<const T> image, gpu::View<std::uint8_t> validity, gpu::Queue&);

}  // namespace stereopsis::contrast
