// Tests of the estimate of row alignment: on scenes whose rows were moved by a known amount, and without an answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"
#include "stereopsis/rows.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::alignment_test {
namespace {

constexpr Size size = {640, 480};

SceneOptions options(double offset, double slope) {
  return {.scene = "table",
          .size = size,
          .disparities = 64,
          .noise = 2,
          .vertical_offset = offset,
          .vertical_slope = slope};
}

RowEstimate estimate_of(const SceneOptions& o) {
  const Scene scene = make_scene(o);
  return estimate_row_alignment(scene.left.view(), scene.right.view());
}

// Expects the plane of a scene that shows row y + offset + slope · x' in row y.
void expect_plane(const RowEstimate& e, double offset, double slope) {
  const RowAlignment& p = e.plane;
  const RowAlignment apart{p.offset + offset, p.roll + slope, p.zoom, p.keystone};
  EXPECT_LT(apart.rms(), 0.03) << e.sentence();
  EXPECT_GE(e.tracks, 600);
}

TEST(RowEstimate, FindsRowsThatWereMoved) {
  for (const auto& [offset, slope] :
       {std::pair{0.25, 0.0}, {-0.5, 0.0}, {1.0, 0.0}, {8.0, 0.0}, {0.0, 3.0}, {0.5, -1.0}, {-8.0, 3.0}}) {
    SCOPED_TRACE(testing::Message() << offset << " " << slope);
    const RowEstimate e = estimate_of(options(offset, slope));
    expect_plane(e, offset, slope);
    ASSERT_TRUE(e.alignment.has_value()) << e.sentence();
    EXPECT_EQ(*e.alignment, e.plane);
    EXPECT_EQ(e.reason, NoAlignment::none);
    for (const double v : {e.plane.offset, e.plane.roll, e.plane.zoom, e.plane.keystone})
      EXPECT_EQ(v * 1024, std::round(v * 1024));
  }
}

TEST(RowEstimate, FindsRowsInNoiseAndCompressedImages) {
  for (const char* scene : {"street", "garden"}) {
    SCOPED_TRACE(scene);
    SceneOptions o = options(0.5, 1);
    o.scene = scene;
    o.noise = 5;
    expect_plane(estimate_of(o), 0.5, 1);
    o.noise = 2;
    o.jpeg = 75;
    expect_plane(estimate_of(o), 0.5, 1);
  }
}

TEST(RowEstimate, FindsRowsOfImagesWithDifferentLight) {
  SceneOptions o = options(0.5, 1);
  o.gain = 0.8;
  o.light = 0.3;
  expect_plane(estimate_of(o), 0.5, 1);
}

TEST(RowEstimate, RowsThatAgreeStayAsTheyAre) {
  const RowEstimate e = estimate_of(options(0, 0));
  EXPECT_EQ(e.reason, NoAlignment::rows_agree);
  EXPECT_FALSE(e.alignment.has_value());
  EXPECT_LT(e.plane.rms(), 0.02);
  EXPECT_NE(e.sentence().find("rows agree"), std::string::npos);
}

// Returns the options of a scene whose right rows have waves.
SceneOptions waves(double period, double period_x = 0) {
  SceneOptions o = options(0.3, 0);
  o.vertical_wave = 2;
  o.vertical_period = period;
  o.vertical_period_x = period_x;
  return o;
}

// Returns the root mean square of the error of an alignment. Row y of the aligned image is row y + v, which shows row y.
double error_in_waves(const RowAlignment& a, const SceneOptions& o) {
  constexpr double turn = 2 * std::numbers::pi;
  double sum = 0;
  int count = 0;
  for (int y = 8; y < size.height - 8; y += 4)
    for (int x = 8; x < size.width - 8; x += 4, ++count) {
      const double v = a.at(x, y, size),
                   along = o.vertical_period_x == 0 ? 1 : std::cos(turn * x / o.vertical_period_x);
      const double shown =
          v + o.vertical_offset + o.vertical_wave * along * std::sin(turn * (y + v) / o.vertical_period);
      sum += shown * shown;
    }
  return std::sqrt(sum / count);
}

TEST(RowEstimate, FindsWavesOfRows) {
  for (const double period : {480, 240, 120, 80}) {
    SCOPED_TRACE(period);
    const SceneOptions o = waves(period);
    const RowEstimate e = estimate_of(o);
    ASSERT_TRUE(e.alignment.has_value()) << e.sentence();
    EXPECT_EQ(e.alignment->field.columns, 1) << e.sentence();
    EXPECT_LT(error_in_waves(*e.alignment, o), 0.06);
    EXPECT_GT(e.tracks, 1200);
    EXPECT_LT(e.remaining, 0.15);
    EXPECT_NE(e.sentence().find("field of 1×"), std::string::npos) << e.sentence();
  }
}

TEST(RowEstimate, FindsFieldsOverBothSides) {
  const SceneOptions o = waves(240, 640);
  const RowEstimate e = estimate_of(o);
  ASSERT_TRUE(e.alignment.has_value()) << e.sentence();
  EXPECT_GE(e.alignment->field.columns, 8);
  EXPECT_GE(e.alignment->field.rows, 6);
  EXPECT_LT(error_in_waves(*e.alignment, o), 0.1);
}

TEST(RowEstimate, RowsThatAPlaneOrNothingFollowsHaveNoField) {
  SceneOptions random = options(0.5, 0);
  random.vertical_jitter = 1;
  for (const SceneOptions& o : {options(0, 0), options(0.5, 3), random})
    EXPECT_TRUE(estimate_of(o).plane.field.empty());
}

TEST(RowFilter, FieldsAreThoseOfThePairs) {
  const auto measured = [](SceneOptions o, std::uint64_t seed) {
    o.seed = seed;  // other noise and textures
    const Scene scene = make_scene(o);
    return measure_rows(scene.left.view(), scene.right.view());
  };
  RowFilter filter;
  const RowEstimate first = filter.next(measured(waves(240), 1)), same = filter.next(measured(waves(240), 2));
  ASSERT_TRUE(first.alignment.has_value()) << first.sentence();
  EXPECT_LT(error_in_waves(*first.alignment, waves(240)), 0.1);
  ASSERT_TRUE(same.alignment.has_value()) << same.sentence();
  EXPECT_LT(error_in_waves(*same.alignment, waves(240)), 0.1);
  const RowEstimate other = filter.next(measured(waves(120), 3));
  EXPECT_LT(error_in_waves(other.plane, waves(120)), 0.1) << other.sentence();
  EXPECT_TRUE(filter.next(measured(options(0.3, 0), 4)).plane.field.empty());
}

TEST(RowEstimate, IsTheSameOnEveryMachine) {
  const RowEstimate e = estimate_of(options(1, 2));
  const RowAlignment expected{-1017, -2038, -7, -40};
  EXPECT_EQ(e.plane.offset * 1024, expected.offset);
  EXPECT_EQ(e.plane.roll * 1024, expected.roll);
  EXPECT_EQ(e.plane.zoom * 1024, expected.zoom);
  EXPECT_EQ(e.plane.keystone * 1024, expected.keystone);
  EXPECT_EQ(e.tracks, 1612);
}

TEST(RowEstimate, OfImagesWithoutTextureIsNone) {
  for (const Size s : {Size{1, 1}, {20, 400}, {400, 20}, {640, 480}}) {
    const Image<std::uint8_t> flat(s, 1, 100);
    const RowEstimate e = estimate_row_alignment(flat.view(), flat.view());
    EXPECT_EQ(e.reason, NoAlignment::few_tracks);
    EXPECT_EQ(e.tracks, 0);
    EXPECT_FALSE(e.alignment.has_value());
  }
}

TEST(RowEstimate, OfTextureInOneCornerIsNone) {
  Scene scene = make_scene(options(0.5, 0));
  for (Image<std::uint8_t>* image : {&scene.left, &scene.right})
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        if (x > 200 || y > 200)
          for (int c = 0; c < 3; ++c) (*image)(x, y, c) = 100;
  const RowEstimate e = estimate_row_alignment(scene.left.view(), scene.right.view());
  EXPECT_EQ(e.reason, NoAlignment::one_corner) << e.sentence();
  EXPECT_FALSE(e.alignment.has_value());
}

TEST(RowEstimate, RefusesImagesThatCannotBeCompared) {
  const Image<std::uint8_t> a({64, 48}, 1, 0), b({64, 47}, 1, 0);
  EXPECT_THROW(estimate_row_alignment(a.view(), b.view()), Error);
  EXPECT_THROW(estimate_row_alignment({}, {}), Error);
}

TEST(RowAlignment, HasItsCoefficientsAtTheBorders) {
  const RowAlignment a{1, 2, 4, 8};
  EXPECT_EQ(a.at(319.5, 239.5, size), 1);
  EXPECT_EQ(a.at(-0.5, 239.5, size), 0);
  EXPECT_EQ(a.at(639.5, 239.5, size), 2);
  EXPECT_EQ(a.at(319.5, 479.5, size), 3);
  EXPECT_EQ(a.at(639.5, 479.5, size), 1 + 1 + 2 + 2);
  EXPECT_DOUBLE_EQ((RowAlignment{1, 0, 0, 0}).rms(), 1);
  EXPECT_DOUBLE_EQ((RowAlignment{0, 0, std::sqrt(12.0), 0}).rms(), 1);
  EXPECT_DOUBLE_EQ((RowAlignment{0, 0, 0, 12}).rms(), 1);
}

TEST(RowAlignment, AddsItsField) {
  RowAlignment a{1, 0, 0, 0, {.columns = 4, .rows = 5}};
  for (std::size_t i = 0; i < 20; ++i) a.field.knots[i] = 2;
  EXPECT_DOUBLE_EQ(a.at(3, 470, size), 3);
  EXPECT_DOUBLE_EQ(a.rms(), 3);
  EXPECT_DOUBLE_EQ(a.most(), 3);
  EXPECT_DOUBLE_EQ(a.scaled(0.5).at(3, 470, size), 1.5);
  for (std::size_t i = 0; i < 20; ++i) a.field.knots[i] = static_cast<float>(i % 4);  // rises along rows
  EXPECT_NEAR(a.at(0.25, 0) - a.at(0, 0), 0.25, 1e-6);
  EXPECT_NEAR(a.mirrored().at(-0.25, 0.1), -a.at(0.25, 0.1), 1e-6);
}

}  // namespace
}  // namespace stereopsis::alignment_test
