// Shiftable windows (Okutomi, Katayama and Oka 2002; Bobick and Intille 1999): the cost of a pixel is the lowest cost
// of all windows that contain it. The window with the lowest cost does not cross a nearby edge of the scene. The cost
// is computed by a box filter, followed by a separable minimum over as many pixels (Scharstein and Szeliski 2002,
// section 4.2 and figure 4):
//
//   C'(p, d) = min B(q, d),   q in the W×W window around p, in the image
//   B(q, d) = ⌊(128 Σ C(r, d) + ⌊N / 2⌋) / N⌋,   r in the W×W window around q, N = W²
//
// An r outside the image is replaced by the nearest border pixel, as in stages/box. Windows whose centre is outside the
// image are not used.
//
// Input: a volume of 8-bit costs. Output: averages in units of 1/128, as in the other aggregations.
// Required input: W − 1 pixels on each side.
// Cost: four additions, a division and six minima per cell, independently of the window. The costs are read twice, and
// the averages are written three times and read four times.
#pragma once

#include "stages/shared/stage.hpp"
#include "stages/window_mean/window_mean.hpp"

namespace stereopsis::shiftable {

struct Parameters {
  static constexpr const char* stage = "shiftable";
  int window = 9;

  int radius() const { return window / 2; }

  static void describe(auto& p, auto&& visit) {
    visit("window", p.window, odd(1, 63), "width and height of the windows, in pixels");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) {
  return grow(output, 2 * p.radius(), 2 * p.radius());
}

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest);
// The function may read 64 bytes past the costs. `scratch` holds at least scratch_bytes() and starts at a multiple of
// 64 bytes.
std::size_t scratch_bytes(const Parameters&, int width, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest,
         std::span<std::byte> scratch, Threads&);
// `scratch` has as many bytes as `lowest`.
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> lowest, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::shiftable
