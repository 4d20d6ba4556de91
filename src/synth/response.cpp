#include "synth/response.hpp"

#include <algorithm>
#include <cmath>

#include "synth/random.hpp"

namespace stereopsis::synth {
namespace {

constexpr double ln2 = 0.69314718055994530942;

// Returns ln v for v = 2^exponent · m with m near 1, computed by the series of 2 artanh((m − 1) / (m + 1)).
double natural_log(double v) {
  int exponent;
  double m = std::frexp(v, &exponent);  // exact
  if (m < .70710678118654752) m *= 2, --exponent;
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * ln2 + 2 * s * sum;
}

}  // namespace

double exponential(double v) {
  const double whole = std::floor(v / ln2 + .5);
  const double rest = v - whole * ln2;
  double sum = 1;
  for (int k = 16; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(whole));  // exact
}

double power(double base, double exponent) {
  if (base <= 0) return exponent == 0 ? 1 : 0;
  if (exponent == 1) return base;
  return exponential(exponent * natural_log(base));
}

void Response::write(const Colour& colour, int x, int y, std::uint8_t* pixel) const {
  const double cx = .5 * (size.width - 1), cy = .5 * (size.height - 1);
  const double corner = std::max(cx * cx + cy * cy, 1e-9);
  const double r2 = ((x - cx) * (x - cx) + (y - cy) * (y - cy)) / corner;
  double factor = 255 * gain * (1 - vignetting * r2);
  if (light > 0) {
    const Vec3 at{3.0 * x / size.width, 3.0 * y / size.width, 0};
    factor *= 1 + light * (2 * synth::noise(at, static_cast<std::uint32_t>(seed)) - 1);
  }
  const std::uint64_t index = 3 * (static_cast<std::uint64_t>(y) * size.width + x);
  const double channels[] = {colour.x, colour.y, colour.z};
  for (int c = 0; c < 3; ++c) {
    double value = factor * power(std::clamp(exposure * channels[c], 0.0, 1.0), tone * gamma);
    const double sigma = shot_noise > 0 ? std::sqrt(noise * noise + shot_noise * shot_noise * value / 255) : noise;
    if (sigma > 0) value += sigma * gaussian(seed, index + c);
    pixel[c] = static_cast<std::uint8_t>(std::clamp(std::floor(value + .5), 0.0, 255.0));
  }
}

}  // namespace stereopsis::synth
