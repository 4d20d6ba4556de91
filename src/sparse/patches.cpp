#include "sparse/patches.hpp"

#include <algorithm>
#include <cstring>
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

using Lanes = std::array<std::int16_t, patch_lanes>;

// Sums over the rows of a patch, for each column, of values times 1, v and v², where v is the row's position from −7 to 7.
// Sums of sums need no multiplications: each value is (8 − v) times in the second sum. All are taken modulo 2³²; the
// results fit, because a gradient is at most 2040: 2040² · 2 · (1² + … + 7²) < 2³¹.
template <std::size_t count>
class PatchSums {
 public:
  // Adds a row of values.
  template <class F>
  void add(F&& value) {
    for (std::size_t i = 0; i < patch_lanes; ++i) {
      auto sum = static_cast<std::uint32_t>(value(i));
      for (std::size_t k = 0; k < count; ++k) sum = sums_[k][i] += sum;
    }
  }

  // Returns the sum of the values times vᵐ and uⁿ, where u is the column's position from −7 to 7.
  std::int64_t operator()(int m, int n) const {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < patch; ++i) {
      const std::int64_t u = static_cast<std::int64_t>(i) - patch_radius;
      total += column(m, i) * (n == 0 ? 1 : n == 1 ? u : u * u);
    }
    return total;
  }

 private:
  std::int32_t column(int m, std::size_t i) const {
    if (m == 0) return static_cast<std::int32_t>(sums_[0][i]);
    if (m == 1) return static_cast<std::int32_t>(8 * sums_[0][i] - sums_[1][i]);
    return static_cast<std::int32_t>(64 * sums_[0][i] - 17 * sums_[1][i] + 2 * sums_[count - 1][i]);
  }

  std::array<std::array<std::uint32_t, patch_lanes>, count> sums_{};
};

// Returns a difference of pixels divided by 2, rounded towards 0.
std::int16_t half_of(int difference) {
  const auto d = static_cast<std::int16_t>(difference);
  return static_cast<std::int16_t>(d / 2);
}

// Interpolates a row of a patch along the row, in 1/64 grey level.
void interpolate_along(const std::int16_t* v, const Taps& w, std::int16_t* out) {
  constexpr int shift = weight_bits - 2;
  for (int i = 0; i < patch_lanes; ++i)
    out[i] = static_cast<std::int16_t>(
        (w[0] * v[i - 1] + w[1] * v[i] + w[2] * v[i + 1] + w[3] * v[i + 2] + (1 << (shift - 1))) >> shift);
}

}  // namespace

// The sums of pixels with 12 bits fit in 16 bits.
Level smoothed(const Level& level) {
  const int width = level.width(), height = level.height();
  Level out(level.size());
  std::vector<std::uint16_t> sums(static_cast<std::size_t>(width) + 2);  // along columns; the first and last one twice
  for (int y = 0; y < height; ++y) {
    const std::int16_t *v = level.row(y), *above = level.row(std::max(y - 1, 0)),
                       *below = level.row(std::min(y + 1, height - 1));
    std::uint16_t* sum = sums.data() + 1;
    for (int x = 0; x < width; ++x) sum[x] = static_cast<std::uint16_t>(above[x] + 2 * v[x] + below[x]);
    sum[-1] = sum[0];
    sum[width] = sum[width - 1];
    std::int16_t* row = out.row(y);
    for (int x = 0; x < width; ++x)
      row[x] = static_cast<std::int16_t>(static_cast<std::uint16_t>(sum[x - 1] + 2 * sum[x] + sum[x + 1] + 8) >> 4);
  }
  return out;
}

// Each row is computed in arrays of its own, so that compilers vectorise the loops.
void fill_patch(const Level& level, int x, int y, Patch& p) {
  PatchSums<2> of_x, of_y, yy;
  PatchSums<3> xx, xy;
  for (int j = 0; j < patch; ++j) {
    const int row = y + j - patch_radius;
    const std::int16_t *here = level.row(row) + x - patch_radius, *above = level.row(row - 1) + x - patch_radius,
                       *below = level.row(row + 1) + x - patch_radius;
    Lanes gx, gy;
    for (std::size_t i = 0; i < patch_lanes; ++i) {
      gx[i] = half_of(here[i + 1] - here[static_cast<std::ptrdiff_t>(i) - 1]);
      gy[i] = half_of(below[i] - above[i]);
    }
    gx[patch] = gy[patch] = 0;
    const std::ptrdiff_t first = j * patch_lanes;
    std::memcpy(p.values.data() + first, here, sizeof gx);
    std::memcpy(p.gx.data() + first, gx.data(), sizeof gx);
    std::memcpy(p.gy.data() + first, gy.data(), sizeof gy);
    of_x.add([&](std::size_t i) { return gx[i]; });
    of_y.add([&](std::size_t i) { return gy[i]; });
    yy.add([&](std::size_t i) { return gy[i] * gy[i]; });
    xy.add([&](std::size_t i) { return gx[i] * gy[i]; });
    xx.add([&](std::size_t i) { return gx[i] * gx[i]; });
  }
  auto& all = p.products;
  all[0] = {yy(0, 0), xy(0, 0), xy(0, 1), xy(1, 0), of_y(0, 0)};
  all[1] = {0, xx(0, 0), xx(0, 1), xx(1, 0), of_x(0, 0)};
  all[2] = {0, 0, xx(0, 2), xx(1, 1), of_x(0, 1)};
  all[3] = {0, 0, 0, xx(2, 0), of_x(1, 0)};
  all[4] = {0, 0, 0, 0, patch * patch};
  for (std::size_t i = 0; i < parameters; ++i)
    for (std::size_t j = 0; j < i; ++j) all[i][j] = all[j][i];
  p.of_slopes = {Sums{yy(0, 1), xy(0, 1), xy(0, 2), xy(1, 1), of_y(0, 1)},
                 {yy(1, 0), xy(1, 0), xy(1, 1), xy(2, 0), of_y(1, 0)}};
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
      const std::array<int, parameters> g = {p.gy[at], p.gx[at], p.gx[at] * (i - patch_radius),
                                             p.gx[at] * (j - patch_radius), 1};
      for (std::size_t m = 0; m < parameters; ++m) d[m] += g[m] * apart;
    }
  return d;
}

// All loops have a fixed number of steps, so that compilers vectorise them.
Sums difference(const Patch& p, const Level& level, int x, int y) {
  constexpr int rows = patch + 3, shift = weight_bits + 2;
  const Taps across = cubic_weights<weight_bits>(x % position_units),
             down = cubic_weights<weight_bits>(y % position_units);
  const int left = x / position_units - patch_radius, top = y / position_units - patch_radius - 1;
  std::array<std::int16_t, rows * patch_lanes> between;
  for (int j = 0; j < rows; ++j) interpolate_along(level.row(top + j) + left, across, between.data() + j * patch_lanes);
  PatchSums<1> by_y, apart_alone;
  PatchSums<2> by_x;
  for (int j = 0; j < patch; ++j) {
    const std::int16_t* v = between.data() + j * patch_lanes;
    const std::size_t first = static_cast<std::size_t>(j) * patch_lanes;
    Lanes apart;
    for (std::size_t i = 0; i < patch_lanes; ++i) {
      const int sum = down[0] * v[i] + down[1] * v[i + patch_lanes] + down[2] * v[i + 2 * patch_lanes] +
                      down[3] * v[i + 3 * patch_lanes];
      apart[i] = static_cast<std::int16_t>(std::min(std::max((sum + (1 << (shift - 1))) >> shift, 0), white) -
                                           static_cast<int>(p.values[first + i]));
    }
    by_y.add([&](std::size_t i) { return p.gy[first + i] * apart[i]; });
    by_x.add([&](std::size_t i) { return p.gx[first + i] * apart[i]; });
    apart_alone.add([&](std::size_t i) { return apart[i]; });
  }
  return {by_y(0, 0), by_x(0, 0), by_x(0, 1), by_x(1, 0), apart_alone(0, 0)};
}

}  // namespace stereopsis::sparse
