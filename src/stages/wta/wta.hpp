// Selection by winner takes all from a volume of costs (Banz et al. 2011, equation 6), with sub-pixel interpolation,
// uniqueness, and the disparity of the right view from the same costs.
//
//   d(p) = argmin S(p, d) over the candidates d with x − d inside the right image; ties go to the lowest d
//   right view: d(q) = argmin S(x_q + d, d) over the d with x_q + d inside the left image, in whole pixels
//
// A candidate whose right pixel is masked is skipped. With border_candidates, candidates outside the right image are
// included. A cost of 65535, infinity or NaN marks an absent candidate. A pixel without a candidate is invalid, with
// the reason no_candidate. A masked pixel is invalid, with the reason masked.
//
// sub-pixel, from the costs a, b, c at d−1, d, d+1, if both neighbours are candidates:
//   parabola     offset = (a − c) / (2 (a − 2b + c))
//   equiangular  offset = (a − c) / (2 (max(a, c) − b))        Shimizu and Okutomi 2001
// uniqueness u > 0: with m the lowest cost over the candidates that differ from d by more than one, the pixel
//   is invalid, ambiguous, if m · (100 − u) < S(d) · 100.
// confidence: 1 − S(d) / m; 0 if no other candidate exists or if the pixel is invalid
//   (the naive peak ratio of Hu and Mordohai 2012, PKRN, mapped to [0, 1]).
//
// Costs may also be floats, from filters whose results are not integers. The term 2 (a − 2b + c) is then rounded from
// left to right, and costs below 0 have the confidence of 0. The reference view may be the right view. The range then
// covers −d, and the sign of the result is restored. In a tie, the lowest d also wins.
//
// Input: 8-bit costs, where all are candidates, or 16-bit or float costs. Output: float disparity, 8-bit validity.
// Required input: the pixel alone for the left view; the whole range to the right for the right view. Reads each cell
// once.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::wta {

inline constexpr std::uint16_t no_cost = 65535;  // value of the cost of an absent candidate

enum class Subpixel { none, parabola, equiangular };
constexpr auto names_of(Subpixel) {
  return std::array{std::pair{Subpixel::none, "none"}, std::pair{Subpixel::parabola, "parabola"},
                    std::pair{Subpixel::equiangular, "equiangular"}};
}

struct Parameters {
  static constexpr const char* stage = "wta";
  Subpixel subpixel = Subpixel::none;
  int uniqueness = 0;
  bool border_candidates = false;

  static void describe(auto& p, auto&& visit) {
    visit("subpixel", p.subpixel, any, "method of sub-pixel interpolation between whole disparities");
    visit("uniqueness", p.uniqueness, between(0, 99).in("percent"),
          "percent by which the best cost must be below the others; 0 is off");
    visit("border_candidates", p.border_candidates, any, "include candidates outside the right image");
  }
};

// The inputs of a selection other than the costs. Masks may be empty if all pixels are usable.
template <template <class> class View>
struct InputOf {
  int min_disparity = 0;
  View<const std::uint8_t> mask_left;
  View<const std::uint8_t> mask_right;
};
using Input = InputOf<ImageView>;

// `right` and `confidence` may be empty if they are not requested.
template <template <class> class View>
struct OutputOf {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> right;
  View<float> confidence;
};
using Output = OutputOf<ImageView>;

// The candidates [first, last] of a pixel, as indices into the range. There is no candidate if first > last.
struct Candidates {
  int first, last;
};
inline Candidates candidates(const Parameters& p, int x, int width, int min_disparity, int disparities) {
  if (p.border_candidates) return {0, disparities - 1};
  return {std::max(0, x - width + 1 - min_disparity), std::min(disparities - 1, x - min_disparity)};
}

inline float subpixel_offset(Subpixel kind, int a, int b, int c) {
  if (kind == Subpixel::none) return 0;
  const int denominator = kind == Subpixel::parabola ? a - 2 * b + c : std::max(a, c) - b;
  return denominator == 0 ? 0.0f : static_cast<float>(a - c) / static_cast<float>(2 * denominator);
}

inline float subpixel_offset(Subpixel kind, float a, float b, float c) {
  if (kind == Subpixel::none) return 0;
  const float denominator = kind == Subpixel::parabola ? (a - 2 * b) + c : std::max(a, c) - b;
  return denominator == 0 ? 0.0f : (a - c) / (2 * denominator);
}

inline float confidence_of(float best, float second) { return second <= 0 ? 0.0f : 1 - std::max(best, 0.0f) / second; }
inline float confidence_of(int best, int second) {
  return second == 0 ? 0.0f : 1.0f - static_cast<float>(best) / static_cast<float>(second);
}

// The view to whose pixels the costs belong. With the right view, the masks are exchanged, and `right` must be empty.
enum class Reference { left, right };

void oracle(const Parameters&, const Input&, VolumeView<const std::uint8_t> costs, const Output&,
            Reference = Reference::left);
void oracle(const Parameters&, const Input&, VolumeView<const std::uint16_t> costs, const Output&,
            Reference = Reference::left);
void oracle(const Parameters&, const Input&, VolumeView<const float> costs, const Output&, Reference = Reference::left);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes. The function may read 64 bytes past
// float costs.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Parameters&, const Input&, VolumeView<const std::uint8_t> costs, const Output&,
         std::span<std::byte> scratch, Threads&, Reference = Reference::left);
void cpu(const Parameters&, const Input&, VolumeView<const std::uint16_t> costs, const Output&,
         std::span<std::byte> scratch, Threads&, Reference = Reference::left);
void cpu(const Parameters&, const Input&, VolumeView<const float> costs, const Output&, Threads&,
         Reference = Reference::left);

void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::Volume<const std::uint8_t> costs,
         const OutputOf<gpu::View>&, gpu::Queue&, Reference = Reference::left);
void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::Volume<const std::uint16_t> costs,
         const OutputOf<gpu::View>&, gpu::Queue&, Reference = Reference::left);
void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::Volume<const float> costs, const OutputOf<gpu::View>&,
         gpu::Queue&, Reference = Reference::left);

}  // namespace stereopsis::wta
