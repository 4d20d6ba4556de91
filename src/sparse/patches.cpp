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

// Sums along the columns of a patch, from which follow the sums of all products of its derivatives.
class ColumnSums {
 public:
  // Adds a row with the position `v` relative to the middle of the patch.
  void add(const std::int16_t* gx, const std::int16_t* gy, int v) {
    for (std::size_t i = 0; i < patch_lanes; ++i) {
      const int xx = gx[i] * gx[i], xy = gx[i] * gy[i];
      x_[i] += gx[i];
      x_y_[i] += gx[i] * v;
      y_[i] += gy[i];
      yy_[i] += gy[i] * gy[i];
      xy_[i] += xy;
      xy_y_[i] += xy * v;
      xx_[i] += xx;
      xx_y_[i] += xx * v;
      xx_yy_[i] += xx * (v * v);
    }
  }

  std::array<Sums, parameters> products() const {
    const auto sum = [](const Columns& columns, int power) {
      std::int64_t total = 0;
      for (int i = 0; i < patch; ++i) {
        const std::int64_t u = i - patch_radius;
        total += columns[static_cast<std::size_t>(i)] * (power == 0 ? 1 : power == 1 ? u : u * u);
      }
      return total;
    };
    std::array<Sums, parameters> all{};
    all[0] = {sum(yy_, 0), sum(xy_, 0), sum(xy_, 1), sum(xy_y_, 0), sum(y_, 0)};
    all[1] = {0, sum(xx_, 0), sum(xx_, 1), sum(xx_y_, 0), sum(x_, 0)};
    all[2] = {0, 0, sum(xx_, 2), sum(xx_y_, 1), sum(x_, 1)};
    all[3] = {0, 0, 0, sum(xx_yy_, 0), sum(x_y_, 0)};
    all[4][4] = patch * patch;
    for (std::size_t i = 0; i < parameters; ++i)
      for (std::size_t j = 0; j < i; ++j) all[i][j] = all[j][i];
    return all;
  }

 private:
  // A gradient is at most 2040, so that these sums fit: 2040² · 2 · (1² + … + 7²) < 2³¹.
  using Columns = std::array<std::int32_t, patch_lanes>;
  Columns x_{}, x_y_{}, y_{}, yy_{}, xy_{}, xy_y_{}, xx_{}, xx_y_{}, xx_yy_{};
};

// Interpolates a row of a patch along the row, in 1/64 grey level.
void interpolate_along(const std::int16_t* v, const Taps& w, std::int16_t* out) {
  constexpr int shift = weight_bits - 2;
  for (int i = 0; i < patch_lanes; ++i)
    out[i] = static_cast<std::int16_t>(
        (w[0] * v[i - 1] + w[1] * v[i] + w[2] * v[i + 1] + w[3] * v[i + 2] + (1 << (shift - 1))) >> shift);
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
  ColumnSums sums;
  for (int j = 0; j < patch; ++j) {
    const int row = y + j - patch_radius, v = j - patch_radius;
    const std::int16_t *here = level.row(row) + x - patch_radius, *above = level.row(row - 1) + x - patch_radius,
                       *below = level.row(row + 1) + x - patch_radius;
    const std::ptrdiff_t first = j * patch_lanes;
    std::int16_t *values = p.values.data() + first, *px = p.gx.data() + first, *py = p.gy.data() + first,
                 *px_x = p.gx_x.data() + first, *px_y = p.gx_y.data() + first;
    for (int i = 0; i < patch_lanes; ++i) {
      const int is_inside = i < patch ? 1 : 0;
      const int gx = (here[i + 1] - here[i - 1]) / 2 * is_inside, gy = (below[i] - above[i]) / 2 * is_inside;
      values[i] = here[i];
      px[i] = static_cast<std::int16_t>(gx);
      py[i] = static_cast<std::int16_t>(gy);
      px_x[i] = static_cast<std::int16_t>(gx * (i - patch_radius));
      px_y[i] = static_cast<std::int16_t>(gx * v);
    }
    sums.add(px, py, v);
  }
  p.products = sums.products();
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

// All loops have a fixed number of steps, so that compilers vectorise them. Sums of 15 products fit in 32 bits.
Sums difference(const Patch& p, const Level& level, int x, int y) {
  constexpr int rows = patch + 3, shift = weight_bits + 2;
  const Taps across = cubic_weights<weight_bits>(x % position_units),
             down = cubic_weights<weight_bits>(y % position_units);
  const int left = x / position_units - patch_radius, top = y / position_units - patch_radius - 1;
  std::array<std::int16_t, rows * patch_lanes> between;
  for (int j = 0; j < rows; ++j) interpolate_along(level.row(top + j) + left, across, between.data() + j * patch_lanes);
  std::array<std::array<std::int32_t, patch_lanes>, parameters> sums{};
  for (int j = 0; j < patch; ++j) {
    const std::int16_t* v = between.data() + j * patch_lanes;
    const std::size_t first = static_cast<std::size_t>(j) * patch_lanes;
    for (std::size_t i = 0; i < patch_lanes; ++i) {
      const int sum = down[0] * v[i] + down[1] * v[i + patch_lanes] + down[2] * v[i + 2 * patch_lanes] +
                      down[3] * v[i + 3 * patch_lanes];
      const int apart =
          std::min(std::max((sum + (1 << (shift - 1))) >> shift, 0), white) - static_cast<int>(p.values[first + i]);
      sums[0][i] += p.gy[first + i] * apart;
      sums[1][i] += p.gx[first + i] * apart;
      sums[2][i] += p.gx_x[first + i] * apart;
      sums[3][i] += p.gx_y[first + i] * apart;
      sums[4][i] += apart;
    }
  }
  Sums totals{};
  for (std::size_t m = 0; m < parameters; ++m)
    for (std::size_t i = 0; i < patch; ++i) totals[m] += sums[m][i];
  return totals;
}

}  // namespace stereopsis::sparse
