// Refines a guess on the next finer level of a pyramid (Prehn 2007, section 5.3). The levels are reduced by 2
// (stages/downsample), and the coarsest one is searched in full. On each finer level, a pixel searches only around
// twice the disparity of the corresponding coarser pixel. The cost therefore does not grow with the search range.
//
//   g(x, y) = 2 D(⌊x/2⌋, ⌊y/2⌋), clamped to the range of the level; absent where D is invalid
//   candidates g − ⌊(n−1)/2⌋ … g + ⌊n/2⌋ in the range of the level, n = `range`: for 4, as in the thesis, g − 1 … g + 2
//   d = the candidate of the lowest window sum S (stages/window_sad, unshifted); ties go to the lowest disparity
//   d = g instead, if g is a candidate and (S(d₂) − S(d)) / (N |d₂ − d|) < `keep`
//
// In this formula, d₂ is the best of the other candidates, S(d₂) is its sum, and N is the number of pixels in the
// window. The quotient is the peak ratio of the thesis, the slope from the winner to the runner-up. Below a threshold,
// "the current distribution" is not "good enough to change the guessed disparity". The thesis gives no threshold; 0.3
// lies on the flat optimum for its four images. Level l searches the range from ⌊min / 2^l⌋ to ⌈max / 2^l⌉. The finest
// level searches exactly the requested range.
//
// All other rules follow the selection of stages/wta. Candidates outside the other view are skipped unless
// border_candidates is on. Candidates whose pixel in the other view is masked are also skipped. A masked pixel is
// invalid. A pixel without a guess or without candidates is also invalid (no_candidate). Sub-pixel offsets use the sums
// next to d, if these sums are inside the range. The confidence is 1 − S(d) / S(d₂), and 0 without d₂. Masks apply only
// to the finest level, and coarser levels match every pixel.
//
// The map of the right view is computed in the same way with exchanged views (`direction` is +1, and the candidate of x
// is x + d).
// Input: prepared colours, the guess (half the size; NaN means no guess). Output: float disparity, 8-bit validity.
// Required input: the window around the pixel, in the other view also the whole range to the side; in the guess the
// corresponding pixel. Cost: n window sums per pixel; words are read from caches.
#pragma once

#include "stages/shared/stage.hpp"
#include "stages/shared/windows.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::pyramid {

struct Parameters {
  static constexpr const char* stage = "pyramid";
  int levels = 3;
  int range = 4;
  double keep = 0.3;

  // Returns the slope below which a guess is kept, in units of 1/256 grey level.
  int keep_256() const { return static_cast<int>(keep * 256 + 0.5); }

  static void describe(auto& p, auto&& visit) {
    visit("levels", p.levels, between(1, 16).planned(),
          "number of levels above the original image, each of half the size");
    visit("range", p.range, between(1, 64).in("pixels of the level"), "number of candidates around a guess");
    visit("keep", p.keep, between(0, 255).in("grey levels per pixel and disparity"),
          "slope from the winner to the runner-up below which the guess is kept");
  }
};

// The range of a level: each coarser level has half the range, rounded outwards.
constexpr int floor_half(int d) { return d >= 0 ? d / 2 : -((1 - d) / 2); }
inline DisparityRange above(const DisparityRange& range) {
  const int first = floor_half(range.min), last = -floor_half(-range.max());
  return {first, last - first + 1};
}

template <template <class> class View>
struct Input {
  View<const std::uint32_t> reference, other;
  // The candidate of x is x + direction · d, where direction is −1 for the left view and +1 for the right view.
  int direction = -1;
  View<const std::uint8_t> mask_reference, mask_other;
  DisparityRange range;  // range of this level
  View<const float> guess;
};

// `validity` and `confidence` may be empty if they are not requested.
template <template <class> class View>
struct Output {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> confidence;
};

void oracle(const Parameters&, const window_sad::Window&, const wta::Parameters&, const Input<ImageView>&,
            const Output<ImageView>&);
void cpu(const Parameters&, const window_sad::Window&, const wta::Parameters&, const Input<ImageView>&,
         const Output<ImageView>&, Threads&);
void gpu(const Parameters&, const window_sad::Window&, const wta::Parameters&, const Input<gpu::View>&,
         const Output<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::pyramid
