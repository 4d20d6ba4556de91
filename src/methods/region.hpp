// The part of the input that a region of interest needs: the required input of the stages, composed backwards.
#pragma once

#include <optional>

#include "methods/window.hpp"

namespace stereopsis {

// Whether a pixel of the result may depend on any pixel of the map before it.
inline bool is_unbounded(const Refinement& refinement) {
  return refinement.enabled && (std::holds_alternative<speckle::Parameters>(refinement.stage) ||
                                std::holds_alternative<fill::Parameters>(refinement.stage) ||
                                std::holds_alternative<propagation::Parameters>(refinement.stage));
}

// What an enabled refinement needs of the left view's map and images. `span`: the columns that a range's candidates spread over.
inline Rect input_of_refinement(const Refinement& refinement, const window_sad::Window& window, int span,
                                const Rect& output) {
  return std::visit(
      [&]<class P>(const P& p) {
        if constexpr (std::is_same_v<P, median::Parameters>)
          return median::required_input(p, output);
        else if constexpr (std::is_same_v<P, repair::Parameters>)
          return repair::required_input(p, output);
        else if constexpr (std::is_same_v<P, confidence::Parameters>)
          return window_sad::required_input(window, output);
        else if constexpr (std::is_same_v<P, left_right::Parameters>)
          return grow(output, span, 0);  // all that the right pixel may match
        else
          return output;
      },
      refinement.stage);
}

// The levels of a pyramid, each halved and grown by its window; in pixels of the finest, at multiples of the coarsest's.
inline Rect input_of_levels(int levels, const window_sad::Window& window, const Rect& output) {
  int x0 = output.x, y0 = output.y, x1 = output.x + output.width, y1 = output.y + output.height;
  Rect input = window_sad::required_input(window, output);
  for (int level = 1; level <= levels; ++level) {
    x0 = pyramid::floor_half(x0), y0 = pyramid::floor_half(y0), x1 = -pyramid::floor_half(-x1),
    y1 = -pyramid::floor_half(-y1);
    const Rect here = window_sad::required_input(window, {x0, y0, x1 - x0, y1 - y0});
    const int scale = 1 << level;
    const int left = std::min(input.x, here.x * scale), top = std::min(input.y, here.y * scale);
    const int right = std::max(input.x + input.width, (here.x + here.width) * scale);
    const int bottom = std::max(input.y + input.height, (here.y + here.height) * scale);
    input = {left, top, right - left, bottom - top};
  }
  return input;
}

inline Rect aligned(const Rect& r, int multiple) {
  const auto down = [&](int v) { return v - (v % multiple + multiple) % multiple; };
  const int x = down(r.x), y = down(r.y), right = down(r.x + r.width + multiple - 1),
            bottom = down(r.y + r.height + multiple - 1);
  return {x, y, right - x, bottom - y};
}

// The part of the rectified images that a problem's region needs of window matching: all that its pixels depend on, so that
// they are those of the whole image. What follows it and has no finite required input gets `roi.margin` around.
inline Rect input_of_windows(const PipelineData& data, const Problem& p) {
  const Rect all{0, 0, p.rectified_size().width, p.rectified_size().height};
  Rect r = *p.region;
  if (std::any_of(data.refinements.begin(), data.refinements.end(), is_unbounded))
    r = grow(r, data.region.margin, data.region.margin);

  const auto* pyramid = std::get_if<pyramid::Parameters>(&data.levels);
  const int levels = pyramid != nullptr ? pyramid->levels : 0, multiple = 1 << levels;
  // Coarse levels search up to a pixel of theirs beyond the range.
  const int beyond = levels > 0 ? multiple : 0;
  const window_sad::Window window = window::window_of(data);
  const int span = p.range.count - 1 + 2 * beyond;
  for (auto refinement = data.refinements.rbegin(); refinement != data.refinements.rend(); ++refinement)
    if (refinement->enabled) r = input_of_refinement(*refinement, window, span, r);
  if (p.want_right) r = grow(r, span, 0);
  r = intersect(input_of_levels(levels, window, r), all);
  const int left = std::max(0, p.range.max()) + beyond, right = std::max(0, -p.range.min) + beyond;
  return intersect(aligned({r.x - left, r.y, r.width + left + right, r.height}, multiple), all);
}

}  // namespace stereopsis
