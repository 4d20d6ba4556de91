// Colours prepared for comparison (Prehn 2007, section 5.2): one 32-bit word a pixel, whose four bytes are compared by the
// sum of their absolute differences. The weights of the channels are in the bytes already, as in section 5.3.
//
// With C = max − min of R, G, B in 8-bit units, V = max, S = 255 C / V and the hue h in turns, 0 ≤ h < 1:
//
//   hsv   q0 · (32 + 32 △(h)), q0 · (32 + 32 △(h − ¼)), q1 · S, q2 · V        △(h) = 1 − 4 min(h, 1 − h), of period 1
//   rgb   q0 · R, q1 · G, q2 · B, 0
//
// each rounded to the nearest, ties up. Channel i is scaled by q_i = round(256 w_i / max w) / 256, of which only the ratio
// counts: the quantum of a weight is 1/256 of the largest one. S and h are 0 where C or V is.
//
// The thesis does not say what its hue is. Here it is circular: two bytes place it on a diamond, a circle of the 1-norm,
// 256 units long, so that hues next to one another differ by their distance in units of 1/256 turn (as in 8 bits), and 0
// and 1 meet; far ones differ by the chord, 64 at most. Of the readings tried this one and the arc's length come closest to
// the thesis's tables (others: docs/notes/prehn.md); with bytes alone a word's difference is one instruction on GPUs.
//
// A grey image has no hue and no saturation: its word is 0, 0, 0, I. Its weight scales all costs alike, and is left out.
// A float pixel that is not finite becomes 0 and is not usable.
//
// Input: 8-bit, 16-bit or float, 1 or 3 (RGB) channels; brought to 8 bits as grey8 does. Output: 32-bit words, the first
// byte lowest; usable, 255 or 0. Required input: the pixel alone.
// Cost: 3 divisions a pixel; reads each pixel once, writes 4 bytes.
#pragma once

#include <algorithm>

#include "device/gpu/view.hpp"
#include "stages/cost/colours.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::hsv {

using cost::Space;
using cost::Weighting;

// What 8 bits an intensity has: grey8 of stages/grey.
template <class T>
int to_8_bits(T value, int bit_depth) {
  if constexpr (std::is_same_v<T, float>) {
    return value > 0 ? static_cast<int>(std::min(value, 255.0f) + 0.5f) : 0;
  } else {
    const int white = (1 << bit_depth) - 1;
    return (std::min<int>(value, white) * 255 + white / 2) / white;
  }
}

// T is uint8_t, uint16_t or float. `mask` (0 = not usable) may be empty: all pixels are. `usable` may be empty: it is not
// wanted.
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
