// Multiple supporting windows (Hirschmüller, Innocent and Garibaldi, Real-time correlation-based stereo vision with
// reduced border errors, IJCV 2002). The cost is averaged over the window around the pixel, and over the half of the
// neighbouring windows with the lowest costs. These windows are unlikely to cross an edge of the scene:
//
//   C'(p, d) = ⌊(S + ⌊n / 2⌋) / n⌋,   S = B(p, d) + Σ of the n − 1 lowest B(q, d)
//   B(q, d) = ⌊(128 Σ C(r, d) + ⌊N / 2⌋) / N⌋,   r in the W×W window around q, N = W²
//
// With 5 windows, n = 3, and q is p + (±⌊W / 2⌋, ±⌊W / 2⌋), so that p lies in a corner of each window. With 9 windows,
// n = 5, and q is also p + (±⌊W / 2⌋, 0) and p + (0, ±⌊W / 2⌋), so that p lies in the middle of a side. We had no
// access to the paper itself. The numbers of windows follow quotations of the paper in the literature. The overlap by
// half is our interpretation of "partly overlapping". Points q and r outside the image are replaced by the nearest
// border pixels.
//
// Input: a volume of 8-bit costs. Output: averages in units of 1/128, as in the other aggregations.
// Required input: W − 1 pixels on each side.
// Cost: the windows take four additions and a division per cell, independently of their size. The selection takes 5 or
// 19 comparisons and a division. The costs are read twice, the averages 5 or 9 times, and two volumes are written.
#pragma once

#include <array>

#include "stages/shared/stage.hpp"
#include "stages/window_mean/window_mean.hpp"

namespace stereopsis::multiple_windows {

struct Parameters {
  static constexpr const char* stage = "multiple_windows";
  int window = 9;
  int windows = 5;

  int radius() const { return window / 2; }
  int supports() const { return windows - 1; }        // number of windows other than the one around the pixel
  int counted() const { return 1 + supports() / 2; }  // number of windows whose costs are averaged

  static void describe(auto& p, auto&& visit) {
    visit("window", p.window, odd(1, 63), "width and height of each window, in pixels");
    visit("windows", p.windows, either(5, 9),
          "number of windows: one around the pixel, and others beside it, of which the half with the lowest costs "
          "counts");
  }
};

inline Rect required_input(const Parameters& p, const Rect& output) {
  return grow(output, 2 * p.radius(), 2 * p.radius());
}

// Positions of the other windows relative to the pixel's window, in units of ⌊W / 2⌋ pixels. With 5 windows, only the
// first four are used.
struct Direction {
  int dx, dy;
};
inline constexpr std::array<Direction, 8> directions = {
    {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}, {0, -1}, {-1, 0}, {1, 0}, {0, 1}}};

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated);
// The function may read 64 bytes past the costs. `scratch` holds at least scratch_bytes() and starts at a multiple of
// 64 bytes.
std::size_t scratch_bytes(Size size, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated,
         std::span<std::byte> scratch, Threads&);
// `scratch` has as many bytes as `aggregated`.
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> aggregated,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::multiple_windows
