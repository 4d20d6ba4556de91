// Shiftable windows (Okutomi, Katayama and Oka 2002; Bobick and Intille 1999): the cost of a pixel is that of the best of all
// windows that it lies in, so that near an edge of the scene one is taken that does not cross it. As a box filter, followed by a
// separable minimum over as many pixels (Scharstein and Szeliski 2002, section 4.2 and figure 4):
//
//   C'(p, d) = min B(q, d),   q in the W×W window around p, in the image
//   B(q, d) = ⌊(128 Σ C(r, d) + ⌊N / 2⌋) / N⌋,   r in the W×W window around q, N = W²
//
// r outside the image is the nearest pixel of the border, as for stages/box; windows with their centre outside are not tried.
//
// Input: a volume of costs in 8 bits. Output: averages in 1/128 of them, as the other aggregations give.
// Required input: W − 1 pixels around. Cost: four additions, a division and six minima a cell whatever the window; reads the costs
// twice, writes averages three times and reads them four times.
#pragma once

#include <cstddef>
#include <span>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stages/window_mean/window_mean.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::shiftable {

struct Parameters {
  static constexpr const char* stage = "shiftable";
  int window = 9;

  int radius() const { return window / 2; }
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P& p, Visitor&& visit) {
  visit("window", p.window, odd(1, 63), "columns and rows of the windows, pixels");
}

inline Rect required_input(const Parameters& p, const Rect& output) {
  return grow(output, 2 * p.radius(), 2 * p.radius());
}

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest);
// 64 bytes behind the costs may be read. `scratch` holds at least scratch_bytes() and starts at a multiple of 64.
std::size_t scratch_bytes(const Parameters&, int width, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest,
         std::span<std::byte> scratch, Threads&);
// `scratch` holds as many bytes as `lowest`.
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> lowest, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::shiftable
