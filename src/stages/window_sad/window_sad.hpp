// Window matching: the sum of absolute differences over a rectangular window (Prehn 2007, equation 5.1):
//
//   S(p, d) = ⌊ Σ C(p + i, d) / 2^k ⌋ over the W×H offsets i of the window,   C the matching cost of prepared colours
//
// k is 0 if the largest sum fits in 16 bits (11×11 with the default weights), else the smallest value with which it
// does. At borders the costs C(·, d) replicate; the thesis leaves that rim out.
//
// Output: a volume of 16-bit sums.
// Required input: (W−1)/2 columns and (H−1)/2 rows on each side, in the right view also the range of disparities to
// their left.
// Cost: running sums take two costs and four additions per pixel and disparity, independent of the window; reads each
// word twice per disparity, from caches, and writes 2 bytes.
#pragma once

#include <cstddef>
#include <span>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stages/cost/colours.hpp"
#include "stages/cost/cost.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::window_sad {

struct Window {
  int width = 7;
  int height = 7;

  int radius_x() const { return width / 2; }
  int radius_y() const { return height / 2; }
  int area() const { return width * height; }
};

// k: the right shift with which the sums stay below 65535.
inline int shift_of(const Window& window, int max_cost) {
  int shift = 0;
  while ((window.area() * max_cost >> shift) > 65534) ++shift;
  return shift;
}

// Returns the instance for kernels that are specialised for small square windows.
inline const char* instance_of(const Window& window) {
  static constexpr const char* instances[] = {"any", "r1", "r2", "r3"};
  return window.width == window.height && window.width <= 7 ? instances[window.radius_x()] : instances[0];
}

struct Parameters {
  static constexpr const char* stage = "window_sad";
  cost::Space space = cost::Space::hsv;
  std::vector<double> weights{0.2, 0.3, 0.5};
  int window_width = 7;
  int window_height = 7;

  Window window() const { return {window_width, window_height}; }
};

template <class P, class Visitor>
  requires ParametersOf<P, Parameters>
void describe(P& p, Visitor&& visit) {
  visit("space", p.space, any, "colours that are compared");
  visit("weights", p.weights, between(0, 1000000),
        "weights of hue, saturation and value, or of red, green and blue; their ratio counts");
  // Column sums of 85 rows fit in 16 bits.
  visit("window_width", p.window_width, odd(1, 85).in("pixels"), "columns of the window");
  visit("window_height", p.window_height, odd(1, 85).in("pixels"), "rows of the window");
}

inline Rect required_input(const Window& window, const Rect& output) {
  return grow(output, window.radius_x(), window.radius_y());
}

template <template <class> class View>
using Source = cost::Source<cost::Colours, View>;

void oracle(const Window&, const Source<ImageView>&, int min_disparity, VolumeView<std::uint16_t> sums);
// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
std::size_t scratch_bytes(int width, int disparities, int threads);
void cpu(const Window&, const Source<ImageView>&, int min_disparity, VolumeView<std::uint16_t> sums,
         std::span<std::byte> scratch, Threads&);

// Computes the rows from `first_row` on, as many as `sums` has.
void gpu(const Window&, const Source<gpu::View>&, int min_disparity, int first_row, gpu::Volume<std::uint16_t> sums,
         gpu::Queue&);

}  // namespace stereopsis::window_sad
