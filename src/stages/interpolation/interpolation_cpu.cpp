// Interpolation on the CPU. The pixels are searched one after the other, because only gaps need work and most searches
// are short.
#include <cmath>
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/interpolation/interpolation.hpp"

namespace stereopsis::interpolation {
namespace {

// Returns the number of the step, from 1 on, that first reaches a valid pixel; 0 if none does.
int steps_to_valid(ImageView<const float> disparity, int x, int y, const Direction& direction) {
  for (int n = 1;; ++n) {
    const int u = x + direction.x(n), v = y + direction.y(n);
    if (u < 0 || v < 0 || u >= disparity.width || v >= disparity.height) return 0;
    if (!std::isnan(disparity(u, v))) return n;
  }
}

float interpolated(const Input& in, int x, int y) {
  const bool occluded = in.kinds(x, y) == 1;
  const std::uint8_t* const own = &in.image(x, y);
  float best = invalid_disparity;
  int nearest = std::numeric_limits<int>::max();
  for (const Direction& direction : directions) {
    const int n = steps_to_valid(in.disparity, x, y, direction);
    if (n == 0) continue;
    const int u = x + direction.x(n), v = y + direction.y(n);
    const float d = in.disparity(u, v);
    if (occluded) {
      if (!(d >= best)) best = d;
      continue;
    }
    const std::uint8_t* const other = &in.image(u, v);
    int colour = 0;
    for (int c = 0; c < in.image.channels; ++c) colour += std::abs(own[c] - other[c]);
    if (colour >= nearest) continue;
    nearest = colour;
    best = d;
  }
  return best;
}

}  // namespace

void cpu(const Parameters&, const Input& in, ImageView<float> filled, ImageView<std::uint8_t> validity,
         Threads& threads) {
  check_images(in, filled);
  threads.rows(filled.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < filled.width; ++x) {
        filled(x, y) = in.disparity(x, y);
        std::uint8_t& reasons = validity(x, y);
        if (!std::isnan(filled(x, y)) || (reasons & (validity::masked | validity::outside)) != 0) continue;
        const float value = interpolated(in, x, y);
        if (std::isnan(value)) continue;
        filled(x, y) = value + 0.0f;  // −0 becomes +0
        reasons = static_cast<std::uint8_t>((reasons & ~validity::reasons) | validity::filled);
      }
  });
}

}  // namespace stereopsis::interpolation
