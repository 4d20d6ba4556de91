// Colours prepared for comparison (Prehn 2007, section 5.2): one 32-bit word per pixel, whose four bytes are compared
// by the sum of their absolute differences. The bytes are already multiplied by the weights of the channels, as in
// section 5.3.
//
// The words are computed from C = max − min of R, G, B in 8-bit units, V = max, S = 255 C / V and the hue h in turns, 0
// ≤ h < 1:
//
//   hsv   q0 · (32 + 32 △(h)), q0 · (32 + 32 △(h − ¼)), q1 · S, q2 · V        △(h) = 1 − 4 min(h, 1 − h), of period 1
//   rgb   q0 · R, q1 · G, q2 · B, 0
//
// each rounded to the nearest, ties up. Channel i is scaled by q_i = round(256 w_i / max w) / 256. Only the ratio of
// the weights matters, and it is rounded to 1/256 of the largest weight. S and h are 0 if C or V is 0.
//
// The thesis does not define the hue. In this stage, the hue is circular: two bytes place it on a diamond, a circle of
// the 1-norm that is 256 units long. Similar hues differ by their distance in units of 1/256 turn (as in 8 bits), and
// the hues 0 and 1 are equal. Distant hues differ by the chord, which is at most 64. Of the interpretations that we
// tried, this interpretation and the length of the arc come closest to the tables of the thesis. GPUs compute the
// difference of two words in one instruction, because the words consist of bytes.
//
// A grey image has no hue and no saturation, so that its word is 0, 0, 0, I. The weight of grey would scale all costs
// alike, and is omitted. A float pixel that is not finite becomes 0 and is not usable.
//
// Input: 8-bit, 16-bit or float, 1 or 3 (RGB) channels, converted to 8 bits as in grey8. Output: 32-bit words, the
// first byte lowest; usable, 255 or 0.
// Required input: the pixel alone.
// Cost: 3 divisions per pixel; reads each pixel once and writes 4 bytes.
#pragma once

#include <algorithm>

#include "stages/cost/colours.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::hsv {

using cost::Space;
using cost::Weighting;

struct Parameters {
  Weighting weighting;  // weights of the matching cost
};

// Converts an intensity to 8 bits, like grey8 of stages/grey.
template <class T>
int to_8_bits(T value, int bit_depth) {
  if constexpr (std::is_same_v<T, float>) {
    return value > 0 ? static_cast<int>(std::min(value, 255.0f) + 0.5f) : 0;
  } else {
    const int white = (1 << bit_depth) - 1;
    return (std::min<int>(value, white) * 255 + white / 2) / white;
  }
}

// T is uint8_t, uint16_t or float. `mask` (0 = not usable) may be empty if all pixels are usable. `usable` may be empty
// if it is not requested.
template <class T>
void oracle(const Weighting&, ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask,
            ImageView<std::uint32_t> words, ImageView<std::uint8_t> usable);
template <class T>
void cpu(const Weighting&, ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask,
         ImageView<std::uint32_t> words, ImageView<std::uint8_t> usable, Threads&);
template <class T>
void gpu(const Weighting&, gpu::View<const T> image, int bit_depth, gpu::View<const std::uint8_t> mask,
         gpu::View<std::uint32_t> words, gpu::View<std::uint8_t> usable, gpu::Queue&);

}  // namespace stereopsis::hsv
