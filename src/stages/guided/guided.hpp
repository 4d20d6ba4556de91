// Guided filter for the slices of a cost volume (He, Sun and Tang 2010, equations 14 and 15 for a grey guide and 19 to
// 21 for a colour guide; Rhemann et al. 2011, equations 4 and 5):
//
//   a_k = (Σ_k + ε U)⁻¹ · (mean_k(I p) − μ_k p̄_k),   b_k = p̄_k − a_kᵀ μ_k,   q_i = mean_i(a)ᵀ I_i + mean_i(b)
//
// p is a slice of costs, I the guide, μ_k and Σ_k its mean and covariance over the (2r+1)² window around k. The means
// are computed over those pixels of the window that lie in the image, as in the authors' programs. Costs and guide are
// integers, so that all sums are integers:
//
//   guide     I' = I − 128. In a window of N pixels m = rint(ΣI' · (1/N)), near the mean; e = ΣI' − N m;
//             δ = e · (1/N); μ = m + δ; N Σ = Σ(I'−m)(I'−m)ᵀ − δ eᵀ, whose integer part is exact;
//             K = (N Σ + N ε U)⁻¹ by Cholesky's decomposition L D Lᵀ, stable if the colours of a window are collinear
//   costs     v = Σ(I'−m) p − δ Σp = N · cov(I, p), whose sums are exact; a = K v; b = Σp · (1/N) − aᵀ μ
//   result    A = rint(a 2^s), B = rint(b 2^t); q = ((ΣA)ᵀ I' 2^−s + ΣB 2^−t) · (1/N)
//
// Every product, sum and quotient of non-integers is rounded to float, in the order of guided_oracle.cpp. Sums of
// integers do not depend on the order of additions, so that all devices, strips and tiles give the same bits. The
// numbers s and t are the largest numbers of bits for which no sum exceeds 32 bits. Both numbers follow from |a| ≤ σ_p
// / (2 √ε) and σ_p ≤ 127.5: fixed_point(). The rounding errors of both are below 1/100 of a cost for common r and ε.
//
// Input: 8-bit guide with 1 or 3 channels; 8-bit costs. Output: float, only the rows `rows` of the input.
// Required input: 2 r pixels on each side.
// Cost: with a colour guide, 4 box sums in the first pass and 4 in the second; with a grey guide, 2 and 2. Each box sum
// takes one addition and one subtraction per cell, independently of the radius. The product K v is computed once per
// cell.
#pragma once

#include <cmath>

#include "graph/any_view.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::guided {

struct Parameters {
  static constexpr const char* stage = "guided";
  int radius = 9;
  double epsilon = 6.5;
  bool colour = true;

  static void describe(auto& p, auto&& visit) {
    visit("radius", p.radius, between(1, 64).in("pixels").planned(), "radius of the square window");
    visit("epsilon", p.epsilon, between(0.1, 65025).in("squared 8-bit intensities"),
          "variance below which the guide counts as flat");
    visit("color", p.colour, any, "use the colours of a colour image as guide; if false, its grey values");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, 2 * p.radius, 2 * p.radius); }

using stereopsis::Rows;

// The factors 2^s of a and 2^t of b.
struct FixedPoint {
  float a, b;
};
inline FixedPoint fixed_point(const Parameters& p, int channels) {
  constexpr double largest_cost = 255, largest_guide = 128;
  const double window = (2.0 * p.radius + 1) * (2.0 * p.radius + 1);
  const double a = 1.01 * largest_cost / 2 / (2 * std::sqrt(p.epsilon));
  const double b = largest_cost + a * largest_guide * std::sqrt(channels);
  const auto factor = [&](double largest) {
    return static_cast<float>(std::exp2(std::floor(std::log2(2147483647 / window / (largest + 1)))));
  };
  return {factor(a), factor(b)};
}

// The statistics of a window of the guide, which all slices share, as consecutive floats: m, δ and μ of each channel,
// the upper half of K row by row, and 1/N.
constexpr int statistics_count(int channels) { return 3 * channels + channels * (channels + 1) / 2 + 1; }

template <class Guide, class Costs, class Filtered>
void check_shapes(const Guide& guide, const Costs& costs, const Rows& rows, const Filtered& filtered) {
  if ((guide.channels != 1 && guide.channels != 3) || costs.width != guide.width || costs.height != guide.height ||
      filtered.width != guide.width || filtered.height != rows.count() || filtered.disparities != costs.disparities ||
      rows.first < 0 || rows.last > guide.height)
    throw Error(ErrorCategory::call,
                "the guide, the costs and the requested rows of the guided filter have different sizes; pass images of "
                "the same size");
}

void oracle(const Parameters&, ImageView<const std::uint8_t> guide, VolumeView<const std::uint8_t> costs, Rows rows,
            VolumeView<float> filtered);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes. The function may read 64 bytes past
// the costs.
std::size_t scratch_bytes(const Parameters&, Size size, int channels, int threads);
void cpu(const Parameters&, ImageView<const std::uint8_t> guide, VolumeView<const std::uint8_t> costs, Rows rows,
         VolumeView<float> filtered, std::span<std::byte> scratch, Threads&);

// `scratch` holds at least gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(const Parameters&, Size size, int channels, int disparities);
void gpu(const Parameters&, gpu::View<const std::uint8_t> guide, gpu::Volume<const std::uint8_t> costs, Rows rows,
         gpu::Volume<float> filtered, gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::guided
