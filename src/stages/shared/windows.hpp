// The windows and prepared colours of window matching (stages/window_sad). Stages that compare or refine its results
// also read these colours.
#pragma once

#include <vector>

#include "core/parameters.hpp"
#include "stages/cost/colours.hpp"
#include "stages/cost/cost.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::window_sad {

struct Window {
  int width = 7;
  int height = 7;

  int radius_x() const { return width / 2; }
  int radius_y() const { return height / 2; }
  int area() const { return width * height; }
};

// Returns the number k of bits by which sums are shifted to the right, so that they remain below 65535.
inline int shift_of(const Window& window, int max_cost) {
  int shift = 0;
  while ((window.area() * max_cost >> shift) > 65534) ++shift;
  return shift;
}

// Returns the name of the instance, for kernels that are specialised for small square windows.
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

  static void describe(auto& p, auto&& visit) {
    visit("space", p.space, any, "colours that are compared");
    visit("weights", p.weights, between(0, 1000000),
          "weights of hue, saturation and value, or of red, green and blue; only their ratio matters");
    // Sums of columns of 85 rows fit in 16 bits.
    visit("window_width", p.window_width, odd(1, 85).in("pixels"), "width of the window");
    visit("window_height", p.window_height, odd(1, 85).in("pixels"), "height of the window");
  }
};

inline Rect required_input(const Window& window, const Rect& output) {
  return grow(output, window.radius_x(), window.radius_y());
}

template <template <class> class View>
using Source = cost::Source<cost::Colours, View>;

}  // namespace stereopsis::window_sad
