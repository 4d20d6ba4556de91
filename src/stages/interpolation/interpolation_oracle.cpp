#include <cmath>
#include <limits>

#include "stages/interpolation/interpolation.hpp"

namespace stereopsis::interpolation {
namespace {

int difference(ImageView<const std::uint8_t> image, int x, int y, int u, int v) {
  int sum = 0;
  for (int c = 0; c < image.channels; ++c) sum += std::abs(image(x, y, c) - image(u, v, c));
  return sum;
}

float interpolated(const Input& in, int x, int y) {
  const auto [width, height] = in.disparity.size();
  const bool occluded = in.kinds(x, y) == 1;
  float best = invalid_disparity;
  int nearest = std::numeric_limits<int>::max();
  for (const Direction& direction : directions)
    for (int n = 1;; ++n) {
      const int u = x + direction.x(n), v = y + direction.y(n);
      if (u < 0 || v < 0 || u >= width || v >= height) break;
      const float d = in.disparity(u, v);
      if (std::isnan(d)) continue;
      const int colour = difference(in.image, x, y, u, v);
      if (std::isnan(best) || (occluded ? d < best : colour < nearest)) {
        best = d;
        nearest = colour;
      }
      break;
    }
  return best;
}

}  // namespace

void oracle(const Parameters&, const Input& in, ImageView<float> filled, ImageView<std::uint8_t> validity) {
  check_images(in, filled);
  for (int y = 0; y < filled.height; ++y)
    for (int x = 0; x < filled.width; ++x) {
      filled(x, y) = in.disparity(x, y);
      std::uint8_t& reasons = validity(x, y);
      if (!std::isnan(filled(x, y)) || (reasons & (validity::masked | validity::outside)) != 0) continue;
      const float value = interpolated(in, x, y);
      if (std::isnan(value)) continue;
      filled(x, y) = value + 0.0f;  // −0 becomes +0
      reasons = static_cast<std::uint8_t>((reasons & ~validity::reasons) | validity::filled);
    }
}

}  // namespace stereopsis::interpolation
