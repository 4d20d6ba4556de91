// Pixels whose disparity only a seed supports are not measured. Near a measured disparity, the images are compared once
// more, without the seeds. If they do not find the disparity again, the pixel is marked as filled. The stage is our
// own.
//
// C(k) = Σ Hamming(c_L(x + i, y + j), c_R(x + i − b − k, y + j)) over i, j of −2, 0, 2 compares the census words c of
// both views around a pixel p = (x, y) with the disparity D, where b = ⌊D + ½⌋ and k is one of −8, −4, −2, −1, 0, 1, 2,
// 4, 8. Coordinates beyond the image are clamped to the image. Candidates with x − b − k outside the right image are
// left out. n is the least C(k) of the candidates with |b + k − D| ≤ 1, and f that of the others.
//
//   V'(p) = filled (64) if V(p) is 0, a seed reaches p, and 16 n > 15 f; otherwise V(p)
//
// In a second pass, the first pass is a matching without the seeds: pixels that it measured, and whose disparity
// differs by at most 1 pixel from its own, keep V(p).
//
// Where nothing but noise can be seen, the two minima are about equal, so that a pixel stays measured only if its own
// candidates are clearly better.
//
// Input: the image `prior` (stages/prior), census words of 9×7 pixels of both views, disparity; in a second pass,
// disparity and validity of the first one. Input and output, in place: validity.
// Required input: 2 pixels on each side for the window, and the window of the census words; in the right view also the
// search range.
// Cost: 81 population counts of 64 bits for each measured pixel that a seed reaches.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/gpu/view.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::seed_check {

inline constexpr int candidates[] = {-8, -4, -2, -1, 0, 1, 2, 4, 8};
inline constexpr int samples[] = {-2, 0, 2};

template <template <class> class View>
struct InputOf {
  View<const std::uint32_t> prior;
  View<const std::uint64_t> left, right;  // census words
  View<const float> disparity;
  View<const float> first_disparity = {};  // the first pass's; may be empty
  View<const std::uint8_t> first_validity = {};
};
using Input = InputOf<ImageView>;

// Returns whether the pixel of a map is checked.
inline bool is_checked(const Input& in, ImageView<const std::uint8_t> validity, int x, int y) {
  const float disparity = in.disparity(x, y);
  if ((in.prior(x, y) & 255) == 0 || validity(x, y) != 0 || !(std::abs(disparity) < 32768)) return false;
  return in.first_disparity.empty() || in.first_validity(x, y) != 0 ||
         !(std::abs(in.first_disparity(x, y) - disparity) <= 1);
}

void oracle(const Input&, ImageView<std::uint8_t> validity);
void cpu(const Input&, ImageView<std::uint8_t> validity, Threads&);
void gpu(const InputOf<gpu::View>&, gpu::View<std::uint8_t> validity, gpu::Queue&);

}  // namespace stereopsis::seed_check
