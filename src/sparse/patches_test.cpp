#include "sparse/patches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stereopsis::patches_test {
namespace {

using namespace sparse;

TEST(CubicWeights, SumUpToOneAndInterpolate) {
  for (int f = 0; f < position_units; ++f) {
    const auto w = cubic_weights<weight_bits>(f);
    const double t = static_cast<double>(f) / position_units;
    EXPECT_EQ(w[0] + w[1] + w[2] + w[3], 1 << weight_bits);
    EXPECT_NEAR(w[0] / 1024.0, (-t * t * t + 2 * t * t - t) / 2, 0.001);
    EXPECT_NEAR(w[1] / 1024.0, (3 * t * t * t - 5 * t * t + 2) / 2, 0.0015);
    EXPECT_NEAR(w[3] / 1024.0, (t * t * t - t * t) / 2, 0.001);
  }
}

Level level_of(Size size, auto&& value) {
  Level level(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) level(x, y) = static_cast<std::int16_t>(value(x, y));
  return level;
}

TEST(Patches, HaveTheSumsOfTheirDerivatives) {
  const Level ramp = level_of({40, 40}, [](int x, int y) { return 20 * x + 6 * y; });
  Patch p;
  fill_patch(ramp, 20, 20, p);
  constexpr int n = patch * patch;
  EXPECT_EQ(p.products[0][0], n * 6 * 6);    // by the row
  EXPECT_EQ(p.products[1][1], n * 20 * 20);  // by the column
  EXPECT_EQ(p.products[0][1], n * 6 * 20);
  EXPECT_EQ(p.products[2][4], 0);
  EXPECT_EQ(p.products[4][4], n);
}

// On a ramp, the interpolation is exact.
TEST(Patches, DifferByTheirShift) {
  const Level ramp = level_of({40, 40}, [](int x, int y) { return 32 * x + 64 * y; });
  Patch p;
  fill_patch(ramp, 20, 20, p);
  const Sums same = difference_oracle(p, ramp, 20 * position_units, 20 * position_units),
             moved = difference_oracle(p, ramp, 20 * position_units + 128, 20 * position_units - 64);
  constexpr int n = patch * patch;
  EXPECT_EQ(same, Sums{});
  EXPECT_EQ(moved[0], n * 64 * (16 - 16));
  const Sums right = difference_oracle(p, ramp, 21 * position_units, 20 * position_units);
  EXPECT_EQ(right, (Sums{n * 64 * 32, n * 32 * 32, 0, 0, n * 32}));
}

TEST(Patches, FastDifferencesEqualTheOracle) {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  for (int kind = 0; kind < 3; ++kind) {
    // Noise of full range has the largest sums.
    const auto value = [&](int, int) { return kind == 0 ? below(4081) : below(2) * 4080; };
    const Level a = level_of({48, 48}, value), b = level_of({48, 48}, value);
    for (int i = 0; i < 200; ++i) {
      Patch p;
      fill_patch(a, patch_before + below(20), patch_before + below(20), p);
      Sums expected{};
      for (std::size_t m = 0; m < parameters; ++m)
        for (std::size_t k = 0; k < p.values.size(); ++k)
          if (k % patch_lanes < patch) {
            const int u = static_cast<int>(k % patch_lanes) - patch_radius,
                      v = static_cast<int>(k / patch_lanes) - patch_radius;
            const std::array<int, parameters> g = {p.gy[k], p.gx[k], p.gx[k] * u, p.gx[k] * v, 1};
            expected[m] += std::int64_t{g[m]} * g[1];
          }
      EXPECT_EQ(p.products[1], expected);
      const int x = patch_before * position_units + below(20 * position_units),
                y = patch_before * position_units + below(20 * position_units);
      EXPECT_EQ(difference(p, b, x, y), difference_oracle(p, b, x, y));
    }
  }
}

TEST(Patches, SmoothedLevelsKeepTheirMeanAndTheirBorders) {
  const Level flat = level_of({5, 3}, [](int, int) { return 4080; });
  const Level point = level_of({5, 3}, [](int x, int y) { return x == 2 && y == 1 ? 1600 : 0; });
  const Level same = smoothed(flat), spread = smoothed(point);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) EXPECT_EQ(same(x, y), 4080);
  EXPECT_EQ(spread(2, 1), 400);
  EXPECT_EQ(spread(1, 1), 200);
  EXPECT_EQ(spread(3, 2), 100);
  EXPECT_EQ(spread(0, 1), 0);
  EXPECT_EQ(smoothed(level_of({1, 1}, [](int, int) { return 7; }))(0, 0), 7);
}

}  // namespace
}  // namespace stereopsis::patches_test
