// What lenses and moving cameras do to a picture before it is turned into grey levels.
#pragma once

#include <vector>

#include "stereopsis/image.hpp"
#include "synth/texture.hpp"

namespace stereopsis::synth {

// Colours of a picture, before rounding.
struct Picture {
  Size size;
  std::vector<Colour> colours;

  explicit Picture(Size size_) : size(size_), colours(static_cast<std::size_t>(size_.width) * size_.height) {}
  Colour& operator()(int x, int y) { return colours[static_cast<std::size_t>(y) * size.width + x]; }
  const Colour& clamped(int x, int y) const;
};

// Lengths in pixels.
struct Lens {
  double defocus = 0;     // radius of the disc that a point becomes, for each pixel of disparity out of focus
  double focused = 0;     // the disparity in focus
  double blur = 0;        // standard deviation, everywhere
  double motion = 0;      // length of the level line that a point becomes
  double sharpening = 0;  // share of what a blur of one pixel takes away that is added
};

// Borders replicate.
void apply(const Lens& lens, ImageView<const float> disparity, Picture& picture);

}  // namespace stereopsis::synth
