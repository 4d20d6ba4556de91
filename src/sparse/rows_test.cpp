#include "sparse/rows.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace stereopsis::rows_test {
namespace {

using sparse::fit_rows;
using sparse::Match;
using sparse::RowFit;
using sparse::RowPlane;
using sparse::RowPoint;
using sparse::RowTerms;

constexpr Size size = {640, 480};

// Matches on a plane with noise of a tenth of a pixel, and a share of them anywhere within 20 rows.
std::vector<Match> points(int count, const RowPlane& plane, double wrong) {
  std::mt19937 random(3);
  const auto unit = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<Match> matches;
  for (int i = 0; i < count; ++i) {
    Match m{static_cast<int>(unit() * size.width), static_cast<int>(unit() * size.height)};
    m.dy = plane.at((m.x + 0.5) / size.width - 0.5, (m.y + 0.5) / size.height - 0.5) + 0.35 * (unit() - 0.5);
    if (unit() < wrong) m.dy = 40 * (unit() - 0.5);
    matches.push_back(m);
  }
  return matches;
}

TEST(FitRows, FindsThePlaneAmongOutliers) {
  for (const RowPlane& plane : {RowPlane{0, 0, 0}, {0.3, -0.5, 0.2}, {0, 4, 0}, {0, 0, 4.8}, {-8, 6, 3}}) {
    const RowFit fit = fit_rows(points(600, plane, 0.3), size);
    EXPECT_NEAR(fit.plane.offset, plane.offset, 0.03);
    EXPECT_NEAR(fit.plane.roll, plane.roll, 0.1);
    EXPECT_NEAR(fit.plane.zoom, plane.zoom, 0.1);
    const double apart = std::abs(plane.offset) + (std::abs(plane.roll) + std::abs(plane.zoom)) / 2;
    EXPECT_NEAR(fit.most_apart, apart, 0.1);
    EXPECT_NEAR(fit.spread, 0.14, 0.06);  // outliers raise the median
  }
}

TEST(FitRows, IsLessSureWithFewPoints) {
  const RowFit few = fit_rows(points(12, {}, 0), size), many = fit_rows(points(1200, {}, 0), size);
  EXPECT_GT(few.deviation, 3 * many.deviation);
  EXPECT_LT(many.deviation, 0.02);
}

TEST(FitRows, FindsAKeystoneIfItIsFitted) {
  const RowPlane plane{0.3, -0.5, 0.2, 4};
  std::vector<RowPoint> all;
  for (const Match& m : points(600, {}, 0.3)) {
    const double u = (m.x + 0.5) / size.width - 0.5, v = (m.y + 0.5) / size.height - 0.5;
    all.push_back({u, v, m.dy + plane.at(u, v)});
  }
  const RowFit fit = fit_rows(all, RowTerms::keystone, 0.05), linear = fit_rows(all, RowTerms::linear, 0.05);
  EXPECT_NEAR(fit.plane.offset, plane.offset, 0.03);
  EXPECT_NEAR(fit.plane.keystone, plane.keystone, 0.4);
  EXPECT_GT(fit.deviations.keystone, fit.deviations.roll);
  EXPECT_NEAR(linear.plane.keystone, 0, 1e-9);
}

// The less precise half of the points is wrong in the same way.
TEST(FitRows, FollowsThePrecisePoints) {
  std::vector<RowPoint> all;
  for (int i = 0; i < 400; ++i)
    all.push_back({i % 20 / 20.0 - 0.5, i / 20 / 20.0 - 0.5, i % 2 == 0 ? 0.5 : 0.6, i % 2 == 0 ? 0.02 : 0.5});
  EXPECT_NEAR(fit_rows(all, RowTerms::keystone, 1).plane.offset, 0.5, 0.005);
}

// Points in one place determine no slope.
TEST(FitRows, OfDegeneratePointsIsFinite) {
  EXPECT_EQ(fit_rows({}, size).most_apart, 0);
  const std::vector<Match> same(50, Match{100, 100, 0, 1});
  const RowFit fit = fit_rows(same, size);
  EXPECT_TRUE(std::isfinite(fit.most_apart));
  EXPECT_NEAR(fit.plane.at(100.5 / 640 - 0.5, 100.5 / 480 - 0.5), 1, 0.05);
  EXPECT_GT(fit.deviation, 0.2);
}

}  // namespace
}  // namespace stereopsis::rows_test
