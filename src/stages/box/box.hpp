// Aggregation of costs over a rectangular window (Scharstein and Szeliski 2002, section 3.2; with absolute or squared differences
// SAD and SSD: Prehn 2007, section 2.2.2):
//
//   C'(p, d) = ⌊(128 Σ C(q, d) + ⌊N / 2⌋) / N⌋,   q in the W×H window around p, N = W H
//
// q outside the image is the nearest pixel of the border.
//
// Input: a volume of costs in 8 bits. Output: averages in 1/128 of them, as the other aggregations give.
// Required input: (W−1)/2 columns and (H−1)/2 rows around. Cost: four additions and a division a cell whatever the window;
// reads each cell twice, writes it once.
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

namespace stereopsis::box {

struct Parameters {
  static constexpr const char* stage = "box";
  int window_width = 7;
  int window_height = 7;

  int radius_x() const { return window_width / 2; }
  int radius_y() const { return window_height / 2; }
  window_mean::Window window() const { return {radius_x(), radius_y()}; }
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P& p, Visitor&& visit) {
  // Sums over 63×63 pixels fit 27 bits.
  visit("window_width", p.window_width, odd(1, 63), "columns of the window, pixels");
  visit("window_height", p.window_height, odd(1, 63), "rows of the window, pixels");
}

inline Rect required_input(const Parameters& p, const Rect& output) { return grow(output, p.radius_x(), p.radius_y()); }

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages);
// 64 bytes behind the costs may be read. `scratch` holds at least scratch_bytes() and starts at a multiple of 64.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages,
         std::span<std::byte> scratch, Threads&);
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> averages, gpu::Queue&);

}  // namespace stereopsis::box
