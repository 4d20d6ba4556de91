#include "synth/response.hpp"

#include <algorithm>
#include <cmath>

#include "synth/random.hpp"

namespace stereopsis::synth {
namespace {

constexpr double ln2 = 0.69314718055994530942;

// ln of 2^exponent · m, m near 1: 2 artanh((m − 1) / (m + 1)) as its series.
double natural_log(double v) {
  int exponent;
  double m = std::frexp(v, &exponent);  // exact
  if (m < .70710678118654752) m *= 2, --exponent;
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * ln2 + 2 * s * sum;
}

double exponential(double v) {
  const double whole = std::floor(v / ln2 + .5);
  const double rest = v - whole * ln2;
  double sum = 1;
  for (int k = 16; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(whole));  // exact
}

}  // namespace

double power(double base, double exponent) {
  if (base <= 0) return exponent == 0 ? 1 : 0;
  if (exponent == 1) return base;
  return exponential(exponent * natural_log(base));
}

Response::Response(Size size, double gain, double gamma, double vignetting, double noise, std::uint64_t seed)
    : size_(size), gain_(gain), gamma_(gamma), vignetting_(vignetting), noise_(noise), seed_(seed) {}

void Response::write(const Colour& colour, int x, int y, std::uint8_t* pixel) const {
  const double cx = .5 * (size_.width - 1), cy = .5 * (size_.height - 1);
  const double corner = std::max(cx * cx + cy * cy, 1e-9);
  const double r2 = ((x - cx) * (x - cx) + (y - cy) * (y - cy)) / corner;
  const double factor = 255 * gain_ * (1 - vignetting_ * r2);
  const std::uint64_t index = 3 * (static_cast<std::uint64_t>(y) * size_.width + x);
  const double channels[] = {colour.x, colour.y, colour.z};
  for (int c = 0; c < 3; ++c) {
    double value = factor * power(std::min(channels[c], 1.0), gamma_);
    if (noise_ > 0) value += noise_ * gaussian(seed_, index + c);
    pixel[c] = static_cast<std::uint8_t>(std::clamp(std::floor(value + .5), 0.0, 255.0));
  }
}

}  // namespace stereopsis::synth
