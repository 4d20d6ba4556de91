// Iterative region voting (Mei et al. 2011, section 2.4). An invalid pixel gets the disparity of most valid pixels in
// its cross-based region,
//
//   D(p) = argmax_b H_p(b)   if S_p > τS and H_p(b) / S_p > τH,   S_p = Σ_b H_p(b)
//
// H_p counts the valid pixels by ⌊D + ½⌋, over the horizontal arms of the pixels on the vertical arms of p. In a tie,
// the lowest disparity wins. Filled pixels vote in the next iteration, and there are five iterations. Within an
// iteration, all pixels read the same map. The values τS = 20 and τH = 0.4 follow Li's public program (AD-Census,
// 2020). In this stage, τH is a percentage.
//
// Disparities of 32768 and more do not vote. Masked pixels and pixels outside the region of interest remain invalid. A
// filled pixel is valid, and marked as filled.
//
// Input: arms (stages/cross). Input and output, in place: float disparity (NaN where invalid) and validity.
// Required input: iterations × the longest arm.
// Cost: a pass over the region for each invalid pixel and iteration.
#pragma once

#include <cmath>
#include <limits>

#include "stages/shared/arms.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::region_voting {

struct Parameters {
  static constexpr const char* stage = "region_voting";
  int iterations = 5;
  int votes = 20;
  int share = 40;

  static void describe(auto& p, auto&& visit) {
    visit("iterations", p.iterations, between(1, 50),
          "number of iterations, in each of which the invalid pixels are filled by votes");
    visit("votes", p.votes, between(0, 100'000), "number of votes that a region must exceed");
    visit("share", p.share, between(0, 100).in("percent"),
          "share of the votes that the winner must exceed, in percent");
  }
};

inline Rect required_input(const Parameters& p, int longest_arm, const Rect& output) {
  return grow(output, p.iterations * longest_arm, p.iterations * longest_arm);
}

// Returns the bin of a disparity, or `nothing` if the disparity is not a number or is too large.
inline constexpr int nothing = std::numeric_limits<int>::min();
inline int bin_of(float disparity) {
  return std::abs(disparity) < 32768 ? static_cast<int>(std::floor(disparity + 0.5f)) : nothing;
}
constexpr bool wins(const Parameters& p, std::int64_t most, std::int64_t all) {
  return all > p.votes && 100 * most > p.share * all;
}

template <template <class> class View>
struct MapOf {
  View<float> disparity;
  View<std::uint8_t> validity;
};
using Map = MapOf<ImageView>;

void oracle(const Parameters&, ImageView<const std::uint32_t> arms, const Map&);

// `scratch` holds at least scratch_bytes() and is aligned for float.
std::size_t scratch_bytes(Size size);
void cpu(const Parameters&, ImageView<const std::uint32_t> arms, const Map&, std::span<std::byte> scratch, Threads&);

std::size_t gpu_scratch_bytes(Size size);
void gpu(const Parameters&, gpu::View<const std::uint32_t> arms, const MapOf<gpu::View>&, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::region_voting
