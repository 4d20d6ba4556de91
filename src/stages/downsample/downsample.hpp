// Reduction by averaging (Prehn 2007, section 5.3.1, which uses a factor of 2):
//
//   R(x, y) = the mean of the factor × factor pixels from (factor · x, factor · y) on, channel by channel
//
// rounded to the nearest, ties up, for integers. For floats, the sum, computed row by row, is multiplied by the float 1
// / factor². Pixels beyond the right and the bottom border replicate the border, and the result has ⌈size / factor⌉
// pixels.
//
// Input: 8-bit, 16-bit or float, any number of channels. Output: the same type.
// Required input: the averaged pixels.
// Cost: one addition per input pixel and channel; reads each input pixel once and writes each output pixel once.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::downsample {

inline Size downsampled(Size size, int factor) {
  return {(size.width + factor - 1) / factor, (size.height + factor - 1) / factor};
}

inline Rect required_input(int factor, const Rect& output) {
  return {output.x * factor, output.y * factor, output.width * factor, output.height * factor};
}

// T is uint8_t, uint16_t or float; factor is 1 to 64.
template <class T>
void oracle(int factor, ImageView<const T> image, ImageView<T> out);
template <class T>
void cpu(int factor, ImageView<const T> image, ImageView<T> out, Threads&);
template <class T>
void gpu(int factor, gpu::View<const T> image, gpu::View<T> out, gpu::Queue&);

}  // namespace stereopsis::downsample
