// Tests of the estimate of row alignment: on scenes whose rows were moved by a known amount, and without an answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

}  // namespace
}  // namespace stereopsis::alignment_test
