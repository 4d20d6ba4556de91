#include "sparse/patches.hpp"

#include <algorithm>
#include <vector>

namespace stereopsis::sparse {
namespace {

constexpr int white = 255 * units;

// Rounds a multiple of 1/2ⁿ to an integer.
constexpr std::int64_t rounded(std::int64_t value, int bits) {
  return (value + (std::int64_t{1} << (bits - 1))) >> bits;
}

using Taps = std::array<std::int16_t, 4>;

// Interpolates along a row, in 1/64 grey level.
int along_row(const std::int16_t* v, const Taps& w) {
  return static_cast<int>(rounded(w[0] * v[-1] + w[1] * v[0] + w[2] * v[1] + w[3] * v[2], weight_bits - 2));
}

}  // namespace

Level smoothed(const Level& level) {
  const int width = level.width(), height = level.height();
  Level out(level.size());
  std::vector<int> sums(static_cast<std::size_t>(width) + 2);  // sums along columns, with the first and last one twice
  for (int y = 0; y < height; ++y) {
    const std::int16_t *v = level.row(y), *above = level.row(std::max(y - 1, 0)),
                       *below = level.row(std::min(y + 1, height - 1));
    int* sum = sums.data() + 1;
    for (int x = 0; x < width; ++x) sum[x] = above[x] + 2 * v[x] + below[x];
    sum[-1] = sum[0];
    sum[width] = sum[width - 1];
    for (int x = 0; x < width; ++x)
      out(x, y) = static_cast<std::int16_t>((sum[x - 1] + 2 * sum[x] + sum[x + 1] + 8) / 16);
  }
  return out;
}

void fill_patch(const Level& level, int x, int y, Patch& p) {
  p.values = p.gx = p.gy = p.gx_x = p.gx_y = {};
  p.products = {};
  for (int j = 0; j < patch; ++j) {
    const int row = y + j - patch_radius;
    const std::int16_t *v = level.row(row) + x - patch_radius, *above = level.row(row - 1) + x - patch_radius,
                       *below = level.row(row + 1) + x - patch_radius;
    for (int i = 0; i < patch; ++i) {
      const auto at = static_cast<std::size_t>(j * patch_lanes + i);
      const int gx = (v[i + 1] - v[i - 1]) / 2, gy = (below[i] - above[i]) / 2;
      p.values[at] = v[i];
      p.gy[at] = static_cast<std::int16_t>(gy);
      p.gx[at] = static_cast<std::int16_t>(gx);
      p.gx_x[at] = static_cast<std::int16_t>(gx * (i - patch_radius));
      p.gx_y[at] = static_cast<std::int16_t>(gx * (j - patch_radius));
      const std::array<int, parameters> g = {gy, gx, p.gx_x[at], p.gx_y[at], 1};
      for (std::size_t m = 0; m < parameters; ++m)
        for (std::size_t n = 0; n < parameters; ++n) p.products[m][n] += std::int64_t{g[m]} * g[n];
    }
  }
}

Sums difference_oracle(const Patch& p, const Level& level, int x, int y) {
  const Taps across = cubic_weights<weight_bits>(x % position_units),
             down = cubic_weights<weight_bits>(y % position_units);
  const int left = x / position_units - patch_radius, top = y / position_units - patch_radius;
  Sums d{};
  for (int j = 0; j < patch; ++j)
    for (int i = 0; i < patch; ++i) {
      std::int64_t sum = 0;
      for (int tap = 0; tap < 4; ++tap)
        sum += down[static_cast<std::size_t>(tap)] * along_row(level.row(top + j + tap - 1) + left + i, across);
      const auto at = static_cast<std::size_t>(j * patch_lanes + i);
      const int apart = std::clamp(static_cast<int>(rounded(sum, weight_bits + 2)), 0, white) - p.values[at];
      const std::array<int, parameters> g = {p.gy[at], p.gx[at], p.gx_x[at], p.gx_y[at], 1};
      for (std::size_t m = 0; m < parameters; ++m) d[m] += g[m] * apart;
    }
  return d;
}

}  // namespace stereopsis::sparse
