// Multiple supporting windows (Hirschmüller, Innocent and Garibaldi, Real-time correlation-based stereo vision with reduced border
// errors, IJCV 2002): the window around the pixel, and that half of the windows beside it whose costs are lowest, for those are the
// ones that are not likely to cross an edge of the scene:
//
//   C'(p, d) = ⌊(S + ⌊n / 2⌋) / n⌋,   S = B(p, d) + Σ of the n − 1 lowest B(q, d)
//   B(q, d) = ⌊(128 Σ C(r, d) + ⌊N / 2⌋) / N⌋,   r in the W×W window around q, N = W²
//
// with 5 windows, n = 3, q = p + (±⌊W / 2⌋, ±⌊W / 2⌋), so that p lies in a corner of each; with 9, n = 5, and q also p + (±⌊W / 2⌋, 0)
// and p + (0, ±⌊W / 2⌋), so that p lies in the middle of a side. The paper itself is not at hand: how many windows there are and how
// many of them count is how it is quoted throughout; that they overlap by half is our reading of "partly overlapping".
// q and r outside the image are the nearest pixels of the border.
//
// Input: a volume of costs in 8 bits. Output: averages in 1/128 of them, as the other aggregations give.
// Required input: W − 1 pixels around. Cost: four additions and a division a cell for the windows, whatever their size, 5 or 19
// comparisons and a division for the choice; reads the costs twice, averages 5 or 9 times, writes two volumes.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stages/window_mean/window_mean.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::multiple_windows {

struct Parameters {
  static constexpr const char* stage = "multiple_windows";
  int window = 9;
  int windows = 5;

  int radius() const { return window / 2; }
  int supports() const { return windows - 1; }        // beside the one around the pixel
  int counted() const { return 1 + supports() / 2; }  // windows that a cost is the mean of
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P& p, Visitor&& visit) {
  visit("window", p.window, odd(1, 63), "columns and rows of each window, pixels");
  visit("windows", p.windows, either(5, 9), "the one around the pixel and those beside it, half of which count");
}

inline Rect required_input(const Parameters& p, const Rect& output) {
  return grow(output, 2 * p.radius(), 2 * p.radius());
}

// Where the windows beside that of a pixel are, in ⌊W / 2⌋ pixels; of 5 windows the first four.
struct Direction {
  int dx, dy;
};
inline constexpr std::array<Direction, 8> directions = {
    {{-1, -1}, {1, -1}, {-1, 1}, {1, 1}, {0, -1}, {-1, 0}, {1, 0}, {0, 1}}};

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated);
// 64 bytes behind the costs may be read. `scratch` holds at least scratch_bytes() and starts at a multiple of 64.
std::size_t scratch_bytes(Size size, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated,
         std::span<std::byte> scratch, Threads&);
// `scratch` holds as many bytes as `aggregated`.
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> aggregated,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::multiple_windows
