// Simulates the effects of lenses and camera motion on an image before it is quantised.
#pragma once

#include <vector>

#include "stereopsis/image.hpp"
#include "synth/texture.hpp"

namespace stereopsis::synth {

// The colours of an image before rounding.
struct Picture {
  Size size;
  std::vector<Colour> colours;

  explicit Picture(Size size_) : size(size_), colours(static_cast<std::size_t>(size_.width) * size_.height) {}
  Colour& operator()(int x, int y) { return colours[static_cast<std::size_t>(y) * size.width + x]; }
  const Colour& clamped(int x, int y) const;
};

// Effects of the lens. Lengths are in pixels.
struct Lens {
  double defocus = 0;     // radius of a point's disc, per pixel of disparity out of focus
  double focused = 0;     // disparity in focus
  double blur = 0;        // standard deviation, over the whole image
  double motion = 0;      // length of the horizontal line that a point becomes
  double sharpening = 0;  // fraction of the detail removed by a blur of one pixel that is added
};

// Applies the effects to `picture`; borders replicate.
void apply(const Lens& lens, ImageView<const float> disparity, Picture& picture);

}  // namespace stereopsis::synth
