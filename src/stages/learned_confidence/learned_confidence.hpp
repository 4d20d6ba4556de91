// Learned confidence: the probability that the disparity of a pixel is within 1 pixel of the truth, from a small
// network in 8-bit integers. The network reads only the disparity map, the validity and the grey images, so that it
// serves every method. It also rates filled pixels. With `decide`, it also chooses the disparity of each pixel among
// that of the pixel and those of the nearest measured pixels in the row. The network is our own; the training is in
// training/confidence.py.
//
// Q = ⌊16 D + ½⌋ is the disparity in 1/16 pixels, and d = (Q + 8) >> 4 is the whole disparity. Pixels without a
// disparity, or with |D| ≥ 32768, are invalid. L and R are the grey images, in which coordinates beyond the image are
// clamped to the image. Evidence of a valid pixel p, 35 channels from 0 to 127 (an invalid pixel has zeros):
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
// The left candidate of p is the nearest measured pixel c on the left of p in the row, if it is at most 128 pixels away
// and |Q(c) − Q(p)| > 16. The right candidate is its counterpart on the right. Further channels 21 + 2 k of the left
// candidate, and 22 + 2 k of the right one (zeros without a candidate), with Q(c) in place of Q(p), and d(c) of d:
//
//   k = 0, 1  the agreements of channels 1 and 2
//   k = 2     the agreement of channel 4
//   k = 3     clamp(64 + ((Q(c) − Q(p)) >> 2))
//   k = 4     128 − the distance of c from p
//   k = 5     the difference of channel 5 between the views
//   k = 6     clamp(64 + 4 (Z(c) − d(c))), Z(c) the largest d of the row's pixels with x − d = x(p) − d(c), 0 without
//             such pixels; 127 if x(p) − d(c) is outside the image
//
// Only the network that chooses reads candidates; the other network has zeros in their channels. Both networks have the
// same layers and a table each.
//
// clamp limits to 0…127. An agreement is ⌊(127 S + ⌊T / 2⌋) / T⌋ with T = Σ w(q) over the q in the image and S the part
// of T that agrees; w(q) = 64 >> min(|L(q) − L(p)| >> 3, 6).
//
// The network. Layer 0 maps the 35 channels of a pixel to 8. The 8 channels of 2×2 pixels are then 32 channels c · 4 +
// j · 2 + i of one pixel of half the size (rounded up). Layers 1 to 8 are 3×3 convolutions (stages/shared/
// convolution.hpp) with shift 7 and values from 0 to 127, all from 32 to 32 channels except for the last one, which
// gives the logits, −127 to 127, of the 2×2 pixels:
//
//   s₀ = C₁(pixels),  s₁ = C₃ C₂(↓s₀),  e = C₅ C₄(↓s₁),  logits = C₈ C₇(↑C₆(↑e + s₁) + s₀)
//
// ↓ halves the size: (a + b + c + d + 2) >> 2; ↑a + b doubles the size of a by repetition: (a + b + 1) >> 1. The
// confidence is an entry of a monotone table of the logit, which was fitted on generated scenes.
//
// The choice. Four sums of a pixel are e · direct weights + l · weights + biases, with the evidence e of the pixel, and
// the 32 channels l of layer 7 for its 2×2 pixels, which share neither the weights of l nor the biases. Sums 0 and 1 are
// the scores u of the left and the right candidate, in units of 1/2048 nat. A candidate's margin is subtracted from its
// score: `nearer` if Q(c) > Q(p), else `farther`. With `decide`, the pixel takes the disparity of the candidate with the
// largest score above 0, of two equal ones that of the left, and is marked as repaired. Its confidence is then the entry
// of the table for the logit clamp((sum + 64) >> 7, −127, 127), with the candidate's sum 2 or 3. All other pixels keep
// their disparity, validity and confidence.
//
// Input: float disparity (NaN where invalid), validity, 8-bit grey of both views. Output: confidence, float in [0, 1];
// 0 where the disparity is invalid. With `decide`, the disparity and the validity are outputs, too.
// Required input: `reach` pixels on each side (with `decide`, `farthest` more pixels of the row), the range of
// disparities on the left and on the right, and `border` more pixels on the left. The result depends on the position of a pixel modulo `block`.
// Cost: 7,200 multiply-adds and about 500 further operations per pixel; about 1,000 more for each candidate.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "stages/shared/convolution.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::learned_confidence {

inline constexpr int own_channels = 21, candidates = 2, channels_of_candidate = 7;
inline constexpr int evidence_channels = own_channels + candidates * channels_of_candidate;
inline constexpr int first_channels = 8, channels = 32, layers = 8, logits = 4;
inline constexpr int sums = 4;  // scores of both candidates, and the sums of their confidences
inline constexpr int shift = 7, most_logit = 127;
inline constexpr int block = 8;
// 12 pixels for the evidence, 34 for the convolutions and at most 7 up to the border of a block.
inline constexpr int reach = 56;
inline constexpr int farthest = 128;  // the largest distance of a candidate
inline constexpr int same = 16;       // differences of Q up to this number make no candidate
// Right pixels of the columns from `border` on have the same evidence 11.
inline constexpr int border = 32;

struct Parameters {
  static constexpr const char* stage = "learned_confidence";
  bool decide = false;
  double nearer = 0, farther = 4;

  static void describe(auto& p, auto&& visit) {
    visit("decide", p.decide, any,
          "choose the disparity of each pixel among that of the pixel and those of the nearest measured pixels of the "
          "row");
    visit(
        "nearer", p.nearer, between(0, 16).in("nats"),
        "with `decide`: lead that a candidate needs which is more than 1 pixel nearer than the pixel's own disparity");
    visit(
        "farther", p.farther, between(0, 16).in("nats"),
        "with `decide`: lead that a candidate needs which is more than 1 pixel farther than the pixel's own disparity");
  }
};
// Returns a margin in the units of the scores.
inline std::int32_t in_units(double nats) { return static_cast<std::int32_t>(std::lround(nats * 16 * (1 << shift))); }

inline Rect required_input(const Parameters& p, const Rect& output) {
  const Rect around = grow(output, p.decide ? reach + farthest : reach, reach);
  return {around.x - border, around.y, around.width + border, around.height};
}

struct Network {
  std::array<std::int32_t, first_channels> first_biases;
  std::array<std::int8_t, first_channels * evidence_channels> first_weights;  // [out][in]
  std::vector<Convolution> convolutions;                                      // C₁ to C₈
  std::array<std::int32_t, 4 * sums> choice_biases;                           // [sum][2 j + i of the 2×2 pixels]
  std::array<std::int8_t, 4 * sums * channels> choice_weights;                // [sum][2 j + i][channel of layer 7]
  std::array<std::int8_t, sums * evidence_channels> direct_weights;           // [sum][channel of the evidence]
  // Probabilities of the logits, which begin at −127.
  std::array<float, 2 * most_logit + 1> probability;
};
// Returns the library's own network: the one that chooses, or the one that only rates.
const Network& network(bool decide);

// Returns the network in the order of the kernels: the biases of layer 0, its weights by [group of inputs][output], the
// convolutions by append_words(), and the bits of the probabilities. Then the choice: the biases by [2 j + i][sum], the
// weights by [2 j + i][sum][group of channels], and the direct weights by [sum][group of channels].
std::span<const std::int32_t> gpu_words(bool decide);
inline constexpr int first_words = first_channels * (1 + groups_of(evidence_channels));
inline constexpr int choice_words = 4 * sums * (1 + groups_of(channels)) + sums * groups_of(evidence_channels);

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
template <template <class> class View>
struct OutputOf {
  View<float> confidence;
  // Both are empty without `decide`.
  View<float> disparity;
  View<std::uint8_t> validity;
};
using Output = OutputOf<ImageView>;

void oracle(const Parameters&, const Input&, const Output&);

std::size_t scratch_bytes(const Parameters&, Size size, int threads);
void cpu(const Parameters&, const Input&, const Output&, std::span<std::byte> scratch, Threads&);

// `words` comes from gpu_words().
std::size_t gpu_scratch_bytes(const Parameters&, Size size);
void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::Array<const std::int32_t> words, const OutputOf<gpu::View>&,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::learned_confidence
