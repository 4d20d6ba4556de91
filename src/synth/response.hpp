// Simulates how a camera converts light to grey levels: exposure, tone, gain, gamma, vignetting, uneven light and
// noise.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"
#include "synth/texture.hpp"

namespace stereopsis::synth {

// Returns base^exponent for base ≥ 0. Only additions, multiplications and divisions are used, because pow of the C
// library may differ in its last bit between machines. The relative error is below 1e-12 for results that a grey level
// can distinguish from 0.
double power(double base, double exponent);
// Returns e^v, computed in the same way.
double exponential(double v);

struct Response {
  Size size;  // size of the whole image
  double exposure = 1, tone = 1;
  double gain = 1, gamma = 1, vignetting = 0, light = 0, noise = 0, shot_noise = 0;
  std::uint64_t seed = 0;

  // Writes three channels: 255 · gain · (1 − vignetting · r²) · (1 + light · n) · min(exposure · colour, 1)^(tone ·
  // gamma) + noise, rounded to nearest and clamped to 0 to 255. In this formula, r is the distance from the centre relative to that of the
  // corners, and n is smooth noise from −1 to 1. The variance of the noise is noise² + shot_noise² · value / 255.
  void write(const Colour& colour, int x, int y, std::uint8_t* pixel) const;
};

}  // namespace stereopsis::synth
