// How a camera turns light into grey levels: gain, gamma, vignetting and noise.
#pragma once

#include <cstdint>

#include "stereopsis/image.hpp"
#include "synth/texture.hpp"

namespace stereopsis::synth {

// base^exponent for base ≥ 0, from additions, multiplications and divisions alone: the C library's pow may differ in
// its last bit from machine to machine. Relative error below 1e-12 for results that a grey level can tell from 0.
double power(double base, double exponent);

class Response {
 public:
  Response(Size size, double gain, double gamma, double vignetting, double noise, std::uint64_t seed);

  // Three channels: 255 · gain · (1 − vignetting · r²) · colour^gamma + noise, rounded to nearest, 0 to 255; r is the
  // distance from the centre as a share of that of the corners.
  void write(const Colour& colour, int x, int y, std::uint8_t* pixel) const;

 private:
  Size size_;
  double gain_, gamma_, vignetting_, noise_;
  std::uint64_t seed_;
};

}  // namespace stereopsis::synth
