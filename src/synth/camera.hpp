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
  double defocus = 0;     // radius of the disc of a point, per pixel of disparity out of focus
  double focused = 0;     // disparity that is in focus
  double blur = 0;        // standard deviation of a blur of the whole image
  double motion = 0;      // length of the horizontal line to which a point is blurred
  double sharpening = 0;  // fraction of the detail removed by a blur of one pixel that is added to the image
};

// Applies the effects to `picture`. Borders replicate.
void apply(const Lens& lens, ImageView<const float> disparity, Picture& picture);

// Light of a source at infinity that is scattered and reflected inside the lens. All cameras of a rig see it at the
// same pixels, whatever the disparity there.
struct Flare {
  double strength = 0;
  double x = 0, y = 0;  // position of the source, in pixels of the whole image
  Size size;            // size of the whole image
};

// Adds a veil around the source, and ghosts on the line through the source and the centre of the image. `picture` is
// the part of the whole image that starts at (x0, y0).
void add(const Flare& flare, int x0, int y0, Picture& picture);

}  // namespace stereopsis::synth
