// Colours prepared for comparison (Prehn 2007, section 5.2): one 32-bit word per pixel, whose four bytes are compared
// by the sum of their absolute differences. The bytes already contain the weights of the channels, as in section 5.3.
//
// The words use C = max − min of R, G, B in 8-bit units, V = max, S = 255 C / V and the hue h in turns, 0 ≤ h < 1:
//
//   hsv   q0 · (32 + 32 △(h)), q0 · (32 + 32 △(h − ¼)), q1 · S, q2 · V        △(h) = 1 − 4 min(h, 1 − h), of period 1
//   rgb   q0 · R, q1 · G, q2 · B, 0
//
// each rounded to the nearest, ties up. Channel i is scaled by q_i = round(256 w_i / max w) / 256. Only the ratio of
// weights matters, and their quantum is 1/256 of the largest. S and h are 0 where C or V is 0.
//
// The thesis does not define its hue. Here it is circular: two bytes place it on a diamond, a circle of the 1-norm that
// is 256 units long. Hues that are close differ by their distance in units of 1/256 turn (as in 8 bits), and 0 and 1
// coincide; distant hues differ by the chord, 64 at most. Among the readings tried, this one and the arc's length come
// closest to the thesis's tables (others: docs/notes/prehn.md). With bytes only, the difference of two words is one
// instruction on GPUs.
//
// A grey image has no hue and no saturation: its word is 0, 0, 0, I. Its weight would scale all costs alike and is
// omitted.
// A float pixel that is not finite becomes 0 and is not usable.
//
// Input: 8-bit, 16-bit or float, 1 or 3 (RGB) channels, converted to 8 bits as in grey8. Output: 32-bit words, the
// first byte lowest; usable, 255 or 0.
// Required input: the pixel alone.
// Cost: 3 divisions per pixel; reads each pixel once and writes 4 bytes.
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
