// Learned confidence: the probability that the disparity of a pixel is within 1 pixel of the truth, from a small
// network in 8-bit integers. The network reads only the disparity map, the validity and the grey images, so that it
// serves every method. It also rates filled pixels. The network is our own; the training is in training/confidence.py.
//
// Q = ⌊16 D + ½⌋ is the disparity in 1/16 pixels, and d = (Q + 8) >> 4 is the whole disparity. Pixels without a
// disparity, or with |D| ≥ 32768, are invalid. L and R are the grey images, in which coordinates beyond the image are
// clamped to the image. Evidence of a valid pixel p, 21 channels from 0 to 127 (an invalid pixel has zeros):
//
//   0       127 if p is measured (validity 0)
//   1, 2    agreement over q = p + (i, j), |i|, |j| ≤ 2, q ≠ p, with |Q(q) − Q(p)| ≤ 16: of valid, of measured pixels
//   3, 4    the same over q = p + 4 · (i, j), |i|, |j| ≤ 3, with |Q(q) − Q(p)| ≤ 24
//   5       min(A(0) >> 2, 127),  A(k) = Σ |L(x + i, y + j) − R(x + i − d − k, y + j)| over |i|, |j| ≤ 1
//   6       5 · the number of (i, j), |i|, |j| ≤ 2, for which L(x + i, y + j) < L(x, y) differs from
//           R(x + i − d, y + j) < R(x − d, y)
//   7       clamp(64 + ((min(A(2), A(−2)) − A(0)) >> 2))
//   8       clamp(64 + ((min(A(1), A(−1)) − A(0)) >> 2))
//   9       min(Σ G(x + i, y + j) >> 2, 127) over |i|, |j| ≤ 1,  G(x, y) = |L(x + 1, y) − L(x − 1, y)|
//   10      clamp(8 (Z − d)), Z the largest d of the row's pixels with the same x − d; 0 if x − d is outside the image
//   11      clamp(4 (x − d))
//   12…19   clamp(64 + ((Q(q) − Q(p)) >> 1)) for q = p + (−3, 0), (3, 0), (−9, 0), (9, 0), (0, −3), (0, 3), (0, −9) and
//           (0, 9); 64 if q is invalid
//   20      L >> 1
//
// clamp limits to 0…127. An agreement is ⌊(127 S + ⌊T / 2⌋) / T⌋ with T = Σ w(q) over the q in the image and S the part
// of T that agrees; w(q) = 64 >> min(|L(q) − L(p)| >> 3, 6).
//
// The network. Layer 0 maps the 21 channels of a pixel to 8. The 8 channels of 2×2 pixels are then 32 channels c · 4 +
// j · 2 + i of one pixel of half the size (rounded up). Layers 1 to 8 are 3×3 convolutions (stages/shared/
// convolution.hpp) with shift 7 and values from 0 to 127, all from 32 to 32 channels except for the last one, which
// gives the logits, −127 to 127, of the 2×2 pixels:
//
//   s₀ = C₁(pixels),  s₁ = C₃ C₂(↓s₀),  e = C₅ C₄(↓s₁),  logits = C₈ C₇(↑C₆(↑e + s₁) + s₀)
//
// ↓ halves the size: (a + b + c + d + 2) >> 2; ↑a + b doubles the size of a by repetition: (a + b + 1) >> 1. The
// confidence is an entry of a monotone table of the logit, which was fitted on generated scenes.
//
// Input: float disparity (NaN where invalid), validity, 8-bit grey of both views. Output: confidence, float in [0, 1];
// 0 where the disparity is invalid.
// Required input: `reach` pixels on each side, the range of disparities on the left and on the right, and `border` more
// pixels on the left. The result depends on the position of a pixel modulo `block`.
// Cost: 7,100 multiply-adds and about 500 further operations per pixel.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "stages/shared/convolution.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::learned_confidence {

inline constexpr int evidence_channels = 21;
inline constexpr int first_channels = 8, channels = 32, layers = 8, logits = 4;
inline constexpr int shift = 7, most_logit = 127;
inline constexpr int block = 8;
// 12 pixels for the evidence, 34 for the convolutions and at most 7 up to the border of a block.
inline constexpr int reach = 56;
// Right pixels of the columns from `border` on have the same evidence 11.
inline constexpr int border = 32;

struct Parameters {
  static constexpr const char* stage = "learned_confidence";
  static void describe(auto&, auto&&) {}
};

inline Rect required_input(const Parameters&, const Rect& output) {
  const Rect around = grow(output, reach, reach);
  return {around.x - border, around.y, around.width + border, around.height};
}

struct Network {
  std::array<std::int32_t, first_channels> first_biases;
  std::array<std::int8_t, first_channels * evidence_channels> first_weights;  // [out][in]
  std::vector<Convolution> convolutions;                                      // C₁ to C₈
  // Probabilities of the logits, which begin at −127.
  std::array<float, 2 * most_logit + 1> probability;
};
const Network& network();

// Returns the network in the order of the kernels: the biases of layer 0, its weights by [group of inputs][output], the
// convolutions by append_words(), and the bits of the probabilities.
std::span<const std::int32_t> gpu_words();
inline constexpr int first_words = first_channels * (1 + groups_of(evidence_channels));

// Returns Q of a disparity, or `nothing` if the disparity is not a number or too large.
inline constexpr std::int32_t nothing = std::numeric_limits<std::int32_t>::min() / 4;
inline std::int32_t in_16ths(float disparity) {
  return std::abs(disparity) < 32768 ? static_cast<std::int32_t>(std::floor(disparity * 16 + 0.5f)) : nothing;
}
constexpr std::int32_t whole(std::int32_t q) { return (q + 8) >> 4; }

constexpr Size half_of(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }

template <template <class> class View>
struct InputOf {
  View<const float> disparity;
  View<const std::uint8_t> validity, left, right;
};
using Input = InputOf<ImageView>;
void oracle(const Input&, ImageView<float> confidence);

std::size_t scratch_bytes(Size size, int threads);
void cpu(const Input&, ImageView<float> confidence, std::span<std::byte> scratch, Threads&);

// `words` comes from gpu_words().
std::size_t gpu_scratch_bytes(Size size);
void gpu(const InputOf<gpu::View>&, gpu::Array<const std::int32_t> words, gpu::View<float> confidence,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::learned_confidence
