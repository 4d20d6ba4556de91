// How a camera turns light into grey levels: gain, gamma, vignetting, uneven light and noise.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"
#include "synth/texture.hpp"

namespace stereopsis::synth {

// base^exponent for base ≥ 0, from additions, multiplications and divisions alone: the C library's pow may differ in
// its last bit from machine to machine. Relative error below 1e-12 for results that a grey level can tell from 0.
double power(double base, double exponent);
// e^v, likewise.
double exponential(double v);

struct Response {
  Size size;  // of the whole picture
  double gain = 1, gamma = 1, vignetting = 0, light = 0, noise = 0, shot_noise = 0;
  std::uint64_t seed = 0;

  // Three channels: 255 · gain · (1 − vignetting · r²) · (1 + light · n) · colour^gamma + noise, rounded to nearest,
  // 0 to 255; r is the distance from the centre as a share of that of the corners, n smooth noise from −1 to 1. The
  // noise has the variance noise² + shot_noise² · value / 255.
  void write(const Colour& colour, int x, int y, std::uint8_t* pixel) const;
};

}  // namespace stereopsis::synth
