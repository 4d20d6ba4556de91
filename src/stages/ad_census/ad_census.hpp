// Absolute differences and census in one matching cost (Mei, Sun, Zhou, Jiao, Wang and Zhang, On building an accurate
// stereo matching system on graphics hardware, 2011, equations 1 to 3):
//
//   C(p, d) = ρ(C_census, λ_census) + ρ(C_AD, λ_AD),   ρ(c, λ) = 1 − exp(−c / λ)
//
// C_AD is the mean of the absolute differences of the three colours. C_census is the Hamming distance of the census
// words (9×7 in the paper). Each ρ lies in [0, 1), so that neither term dominates the other. Costs are in units of
// 1/scale, rounded to nearest, and come from a table that the host computes. 16-bit costs resulted in the same errors.
// The equations and the window follow Salaün and Monasse (AD Census, draft for IPOL, 2013). The values λ_AD = 10 and
// λ_census = 30 follow Li's public program (AD-Census, 2020).
//
// The cost of a candidate outside the right image is that of the nearest right pixel of the row.
//
// Input: 8-bit images of both views with 1 or 3 channels (a single channel counts three times), and their 64-bit census
// words. Output: a volume of 8-bit costs from 0 to 2 scale.
// Required input: the pixel's row. Cost per cell: 3 differences, 1 exclusive or, 2 look-ups.
#pragma once

#include <array>
#include <cmath>

#include "stages/shared/stage.hpp"

namespace stereopsis::ad_census {

struct Parameters {
  static constexpr const char* stage = "ad_census";
  double lambda_colour = 10;
  double lambda_census = 30;
  int scale = 127;

  int max_cost() const { return 2 * scale; }

  static void describe(auto& p, auto&& visit) {
    visit("lambda_color", p.lambda_colour, between(0.1, 1000).in("8-bit intensities"),
          "mean colour difference that costs 0.63");
    visit("lambda_census", p.lambda_census, between(0.1, 1000), "differing census bits that cost 0.63");
    visit("scale", p.scale, between(1, 127), "cost units of a cost of 1");
  }
};

// The tables of ρ, indexed by the sum of the three differences and by the Hamming distance.
struct Tables {
  static constexpr bool is_argument = true;
  std::array<std::uint8_t, 766> colour;
  std::array<std::uint8_t, 66> census;
};
inline Tables tables(const Parameters& p) {
  const auto rho = [&](double c, double lambda) {
    return static_cast<std::uint8_t>(std::nearbyint(p.scale * (1 - std::exp(-c / lambda))));
  };
  Tables t{};
  for (int i = 0; i < 766; ++i) t.colour[i] = rho(i / 3.0, p.lambda_colour);
  for (int i = 0; i <= 64; ++i) t.census[i] = rho(i, p.lambda_census);
  return t;
}

template <template <class> class View>
struct InputOf {
  View<const std::uint8_t> left, right;
  View<const std::uint64_t> left_census, right_census;
};
using Input = InputOf<ImageView>;

void oracle(const Parameters&, const Input&, int min_disparity, VolumeView<std::uint8_t> costs);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Parameters&, const Input&, int min_disparity, VolumeView<std::uint8_t> costs,
         std::span<std::byte> scratch, Threads&);

void gpu(const Parameters&, const InputOf<gpu::View>&, int min_disparity, gpu::Volume<std::uint8_t> costs, gpu::Queue&);

}  // namespace stereopsis::ad_census
