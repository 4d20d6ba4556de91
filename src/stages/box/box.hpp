// Aggregation of costs over a rectangular window (Scharstein and Szeliski 2002, section 3.2). With absolute or squared
// differences, this is SAD or SSD (Prehn 2007, section 2.2.2):
//
//   C'(p, d) = ⌊(128 Σ C(q, d) + ⌊N / 2⌋) / N⌋,   q in the W×H window around p, N = W H
//
// A q outside the image is replaced by the nearest border pixel.
//
// Input: a volume of 8-bit costs. Output: averages in units of 1/128, as in the other aggregations.
// Required input: (W−1)/2 columns and (H−1)/2 rows on each side.
// Cost: four additions and a division per cell, independent of the window; reads each cell twice and writes it once.
#pragma once

#include "stages/shared/stage.hpp"
#include "stages/window_mean/window_mean.hpp"

namespace stereopsis::box {

struct Parameters {
  static constexpr const char* stage = "box";
  int window_width = 7;
  int window_height = 7;

  int radius_x() const { return window_width / 2; }
  int radius_y() const { return window_height / 2; }
  window_mean::Window window() const { return {radius_x(), radius_y()}; }

  static void describe(auto& p, auto&& visit) {
    // Sums over 63×63 pixels fit in 27 bits.
    visit("window_width", p.window_width, odd(1, 63), "width of the window, in pixels");
    visit("window_height", p.window_height, odd(1, 63), "height of the window, in pixels");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.radius_x(), p.radius_y()); }

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages);
// The function may read 64 bytes past the costs. `scratch` holds at least scratch_bytes() and starts at a multiple of
// 64 bytes.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages,
         std::span<std::byte> scratch, Threads&);
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> averages, gpu::Queue&);

}  // namespace stereopsis::box
