#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cubic.hpp"
#include "stages/align_rows/align_rows.hpp"

namespace stereopsis::align_rows {
namespace {

constexpr int one = 1 << fraction_bits;

// The four rows of a position, and their weights.
struct Taps {
  int rows[4];
  std::array<std::int16_t, 4> weights;

  Taps(int position, int height) : weights(cubic_weights<weight_bits>(position & (one - 1))) {
    for (int k = 0; k < 4; ++k) rows[k] = std::clamp((position >> fraction_bits) + k - 1, 0, height - 1);
  }
};

template <class T>
T interpolated(const T (&v)[4], const std::array<std::int16_t, 4>& w, int white) {
  if constexpr (std::is_same_v<T, float>) {
    const auto weight = [&](std::size_t k) { return static_cast<float>(w[k]) / (1 << weight_bits); };
    return ((weight(0) * v[0] + weight(1) * v[1]) + weight(2) * v[2]) + weight(3) * v[3];
  } else {
    const int sum = w[0] * v[0] + w[1] * v[1] + w[2] * v[2] + w[3] * v[3];
    return static_cast<T>(std::clamp((sum + (1 << (weight_bits - 1))) >> weight_bits, 0, white));
  }
}

}  // namespace

template <class T>
void oracle(const Parameters& p, const InputOf<T, ImageView>& in, const OutputOf<T, ImageView>& out) {
  check(in, out);
  const int height = in.image.height;
  for (int y = 0; y < out.image.height; ++y)
    for (int x = 0; x < out.image.width; ++x) {
      const int at = position(p, x, y);
      const Taps taps(at, height);
      bool usable = at >= -one / 2 && at <= one * height - one / 2;
      for (std::size_t k = 0; k < 4 && !in.mask.empty(); ++k)
        usable = usable && (taps.weights[k] == 0 || in.mask(x, taps.rows[k]) != 0);
      for (int c = 0; c < in.image.channels; ++c) {
        const T values[4] = {in.image(x, taps.rows[0], c), in.image(x, taps.rows[1], c), in.image(x, taps.rows[2], c),
                             in.image(x, taps.rows[3], c)};
        T value = interpolated(values, taps.weights, p.white);
        if constexpr (std::is_same_v<T, float>) {
          usable = usable && std::isfinite(value);
          value = std::isfinite(value) ? std::clamp(value, 0.0F, static_cast<float>(p.white)) : 0;
        }
        out.image(x, y, c) = value;
      }
      if (!out.usable.empty()) out.usable(x, y) = usable ? 255 : 0;
    }
}

template void oracle(const Parameters&, const InputOf<std::uint8_t, ImageView>&,
                     const OutputOf<std::uint8_t, ImageView>&);
template void oracle(const Parameters&, const InputOf<std::uint16_t, ImageView>&,
                     const OutputOf<std::uint16_t, ImageView>&);
template void oracle(const Parameters&, const InputOf<float, ImageView>&, const OutputOf<float, ImageView>&);

void map_oracle(const Parameters& p, ImageView<const std::int32_t> map, ImageView<std::int32_t> out) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const int at = position(p, x, y);
      const int upper = std::clamp(at >> fraction_bits, 0, std::max(map.height - 2, 0));
      const int lower = std::min(upper + 1, map.height - 1);
      for (const int c : {0, 1}) out(x, y, c) = between(map(x, upper, c), map(x, lower, c), at, upper);
    }
}

void restore_oracle(const Parameters& p, ImageView<const float> map, ImageView<float> out) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const int row = restored_row(p, x, y);
      out(x, y) = row >= 0 && row < map.height ? map(x, row) : std::numeric_limits<float>::quiet_NaN();
    }
}

}  // namespace stereopsis::align_rows
