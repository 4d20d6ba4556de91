// Disparities that are known beforehand (seeds), spread over the pixels around them. A sensor or a network gives the
// seeds. The stage is our own; it takes the idea from guided stereo matching (Poggi, Pallotti, Tosi and Mattoccia, CVPR
// 2019), which changes the costs of the seeded pixels alone, and adds support, slopes and agreement.
//
// All values are integers. s(i) = ⌊16 (S(i) − min) + ½⌋ is the seed S(i) of the pixel i in sixteenths of a pixel. The
// pixel is a seed if 0 ≤ s(i) ≤ 16 (count − 1) and its trust t(i) = ⌊255 T(i) + ½⌋ is above 0 (255 without a map of
// trust). G is the grey image in 8 bits.
//
// Spacing: A is the number of pixels of the 33×33 window around i, and N that of the seeds among them.
//
//   L(i) = ⌊√⌊256 A / N⌋⌋                                                 (sixteenths of a pixel)
//
// Slope and agreement: the neighbours j of i are the other seeds with |x_j − x_i|, |y_j − y_i| ≤ min(⌊(2 L + 8) / 16⌋,
// 24) and |G(j) − G(i)| ≤ similar. A slope (a, b) is in 1/256, and starts at 0. In each of three rounds, e(j) = s(j) −
// s(i) − ⌊(a dx + b dy + 8) / 16⌋ is the distance of a neighbour from the plane, and the neighbours with |e(j)| ≤
// 16 tolerance agree; in the first round with |e(j)| ≤ 16 tolerance + 4 · reach of the neighbours. After the first two
// rounds, (a, b) is the least-squares slope of those that agree, with 1 added to both sums of squares, rounded to the
// nearest integer and limited to ±127; if fewer than two agree, it is 0. Dense seeds,
// L(i) < 24, have no slope, and only the third round. There are n neighbours, of which k agree in the third round:
//
//   v(i) = s(i) + ⌊Σ e(j) / (k + 4) + ½⌋,  w(i) = ⌊⌊t(i) min(L(i), 128) / 128⌋ (k + 1) / (n + 1)⌋,
//   r(i) = max(min(R, 5), ⌊R (k + 1) / (n + 1)⌋) with R = min(⌊17 L(i) / 256⌋, reach) if L(i) ≥ 24, otherwise 0.
//
// Sparse seeds stand for more pixels than dense ones, and therefore weigh more. Spread: a seed i reaches the pixels p with
// |dx|, |dy| ≤ r(i) and |G(p) − G(i)| ≤ contrast. The seed that reaches p with the lowest key(p) = ⌊16 √(dx² +
// dy²)⌋ + |G(p) − G(i)|, and if keys are equal the first one by rows, gives the pixel its values:
//
//   V(p) = v(i) + ⌊(a dx + b dy + 8) / 16⌋, limited to 0…16 (count − 1)
//   W(p) = ⌊w(i) (48 max(r(i), 1) − 2 key(p)) / (48 max(r(i), 1))⌋, at least 0
//
// Output: 256 V(p) + W(p); 0 if no seed reaches the pixel or W(p) is 0.
// Required input: 33 pixels on each side.
// Cost: for each seed about 3 operations on each of its neighbours, and for each pixel on each seed that reaches it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::prior {

inline constexpr int window = 16;              // half the width of the window in which seeds are counted
inline constexpr int most_reach = 9;           // in pixels, of the spread
inline constexpr int most_neighbourhood = 24;  // in pixels, of the neighbours
inline constexpr int most_slope = 127;         // in 1/256
inline constexpr int usual_spacing = 128;      // in sixteenths of a pixel: seeds that are farther apart weigh no more
inline constexpr int sure_reach = 5;           // in pixels: a seed whose neighbours disagree reaches no farther
inline constexpr int least_spacing = 24;       // in sixteenths of a pixel: seeds that are closer do not spread

struct Parameters {
  static constexpr const char* stage = "prior";
  int reach = most_reach;
  int contrast = 12;
  int similar = 16;
  int tolerance = 2;

  static void describe(auto& p, auto&& visit) {
    visit("reach", p.reach, between(0, most_reach).in("pixels"), "largest distance over which a seed spreads");
    visit("contrast", p.contrast, between(0, 255).in("8-bit units"),
          "largest difference in grey between a seed and a pixel to which it spreads");
    visit("similar", p.similar, between(0, 255).in("8-bit units"),
          "largest difference in grey between a seed and a neighbouring seed that confirms it");
    visit("tolerance", p.tolerance, between(1, 16).in("pixels"),
          "largest distance of a neighbouring seed from the plane through a seed that it confirms");
  }
};

inline Rect required_input(const Parameters&, const Rect& output) {
  return grow(output, most_reach + most_neighbourhood, most_reach + most_neighbourhood);
}

// Returns r, for a seed that is not dense.
inline int reach_of(const Parameters& p, int spacing, int agree, int neighbours) {
  const int most = std::min(17 * spacing / 256, p.reach);
  return std::max(std::min(most, sure_reach), most * (agree + 1) / (neighbours + 1));
}

// The greatest integer whose square is at most v.
template <class T>
constexpr int root(T v) {
  int r = 0;
  for (int bit = 1 << 14; bit > 0; bit >>= 1)
    if (static_cast<T>(r + bit) * (r + bit) <= v) r += bit;
  return r;
}

// A seed with all that it gives to the pixels around it.
struct Seed {
  int value = 0;                 // v, in sixteenths of a pixel from the lowest disparity
  int slope_x = 0, slope_y = 0;  // in 1/256
  int weight = 0, reach = 0;
};

template <template <class> class View>
struct InputOf {
  View<const float> seeds;  // disparities; NaN where unknown
  View<const float> trust;  // 0 to 1; may be empty
  View<const std::uint8_t> grey8;
};
using Input = InputOf<ImageView>;

void oracle(const Parameters&, const Input&, DisparityRange, ImageView<std::uint32_t> prior);

std::size_t scratch_bytes(Size);
void cpu(const Parameters&, const Input&, DisparityRange, ImageView<std::uint32_t> prior, std::span<std::byte> scratch,
         Threads&);

std::size_t gpu_scratch_bytes(Size);
void gpu(const Parameters&, const InputOf<gpu::View>&, DisparityRange, gpu::View<std::uint32_t> prior,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::prior
