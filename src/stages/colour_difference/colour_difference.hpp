// Truncated absolute difference of colours (the initial cost of Yoon and Kweon 2005, their equation 6; Yu et al. 2010
// do not specify their cost):
//
//   C₀(p, d) = min(|R_l − R_r| + |G_l − G_r| + |B_l − B_r|, T),   l the left pixel (x, y), r the right pixel (x − d, y)
//
// The cost of a candidate outside the right image is that of the nearest right pixel of the row.
//
// Input: words of stages/rgb. Output: costs in integer intensities, disparity fastest, which fit in 8 bits, because T ≤
// 255.
// Required input: the pixel's row.
// Cost: 8 operations and one written byte per cell.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "stages/shared/stage.hpp"

namespace stereopsis::colour_difference {

struct Parameters {
  static constexpr const char* stage = "colour_difference";
  int truncation = 40;

  static void describe(auto& p, auto&& visit) {
    visit("truncation", p.truncation, between(1, 255).in("8-bit intensities"),
          "largest sum of the differences of the three channels; larger sums are truncated");
  }
};

inline int cost(const Parameters& p, std::uint32_t left, std::uint32_t right) {
  const auto difference = [&](int shift) {
    return std::abs(static_cast<int>(left >> shift & 255) - static_cast<int>(right >> shift & 255));
  };
  return std::min(difference(0) + difference(8) + difference(16), p.truncation);
}

void oracle(const Parameters&, ImageView<const std::uint32_t> left, ImageView<const std::uint32_t> right,
            int min_disparity, VolumeView<std::uint8_t> costs);
// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Parameters&, ImageView<const std::uint32_t> left, ImageView<const std::uint32_t> right,
         int min_disparity, VolumeView<std::uint8_t> costs, std::span<std::byte> scratch, Threads&);
void gpu(const Parameters&, gpu::View<const std::uint32_t> left, gpu::View<const std::uint32_t> right,
         int min_disparity, gpu::Volume<std::uint8_t> costs, gpu::Queue&);

}  // namespace stereopsis::colour_difference
