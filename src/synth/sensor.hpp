// Simulates what happens to an image after the sensor: demosaicing, compression and resampling. Borders replicate.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"

namespace stereopsis::synth {

struct Point {
  double x = 0, y = 0;
};

// A displacement of the points of an image that is linear in their position.
struct Shift {
  double x = 0, xx = 0, xy = 0;  // displacement along x at the origin, and its derivatives
  double y = 0, yx = 0, yy = 0;

  Point at(double px, double py) const { return {px + (x + xx * px + xy * py), py + (y + yx * px + yy * py)}; }
  // Returns the point that is displaced to `p`.
  Point origin_of(const Point& p) const;
  bool none() const { return x == 0 && xx == 0 && xy == 0 && y == 0 && yx == 0 && yy == 0; }
};

// Keeps one channel of each pixel, as a Bayer filter does (RGGB from the origin of the whole image, in which the
// image starts at (x0, y0)), interpolates the other two, and mixes the result with `image` by `share`.
void demosaic(double share, int x0, int y0, ImageView<std::uint8_t> image);

// Rounds the coefficients of blocks of 8×8 pixels as JPEG does for a quality of 1 to 100, with half the resolution of
// colour.
void compress(int quality, ImageView<std::uint8_t> image);

// Moves each pixel p of a raw image to shift.at(p), as rectification does: bilinear interpolation, which blurs most
// halfway between the raw pixels.
void resample(const Shift& shift, ImageView<std::uint8_t> image);

}  // namespace stereopsis::synth
