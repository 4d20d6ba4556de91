// Tests of the filter over the rows of a sequence, on generated sequences whose rows are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "stereopsis/rows.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::row_filter_test {
namespace {

constexpr Size size = {400, 300};

// Adds noise with a standard deviation of 3 grey levels.
void add_noise(Image<std::uint8_t>& image, std::mt19937& random) {
  for (int y = 0; y < image.height(); ++y)
    for (int i = 0; i < image.width() * image.channels(); ++i) {
      int sum = 0;
      for (int k = 0; k < 4; ++k) sum += static_cast<int>(random() >> 27);  // 0 to 31 each, with a deviation of 9.2
      image.row(y)[i] = static_cast<std::uint8_t>(std::clamp(image.row(y)[i] + (sum - 62) / 6, 0, 255));
    }
}

// A pair of a static scene whose noise differs from pair to pair. Row y of the right image shows row y + offset + slope · s.
Scene pair_of(int number, double offset, double slope, const char* scene = "table") {
  static std::map<std::tuple<double, double, std::string>, Scene> clean;
  Scene& known = clean[{offset, slope, scene}];
  if (known.left.empty())
    known = make_scene(
        {.scene = scene, .size = size, .disparities = 48, .vertical_offset = offset, .vertical_slope = slope});
  Scene made = known;
  std::mt19937 random(static_cast<unsigned>(number));
  add_noise(made.left, random);
  add_noise(made.right, random);
  return made;
}

RowMeasurement measured(const Scene& pair) { return measure_rows(pair.left.view(), pair.right.view()); }

// The offsets of a car that drives over bumps.
double bumpy(int i) {
  constexpr double jumps[] = {0.4, -0.4, 0.1, 0, -0.2, 0.4, 0.4, -0.3};
  return 0.2 + jumps[i * 5 % 8] * (i % 3 == 0 ? -1 : 1);
}

TEST(RowFilter, FollowsJumpsOfTheOffset) {
  constexpr int pairs = 40;
  RowFilter filter;
  int close = 0;
  for (int i = 0; i < pairs; ++i) {
    const RowEstimate e = filter.next(measured(pair_of(i, bumpy(i), 0.5)));
    const RowAlignment found = e.alignment.value_or(RowAlignment());
    const RowAlignment apart{found.offset + bumpy(i), found.roll + 0.5, found.zoom, found.keystone};
    close += apart.rms() < 0.05;
  }
  EXPECT_GE(close, pairs * 95 / 100);
}

TEST(RowFilter, StaticScenesDoNotFlicker) {
  RowFilter filter;
  int changes = 0;
  RowAlignment last;
  for (int i = 0; i < 20; ++i) {
    const RowEstimate e = filter.next(measured(pair_of(i, 0.5, -1)));
    ASSERT_TRUE(e.alignment.has_value()) << e.sentence();
    changes += *e.alignment != last;
    last = *e.alignment;
    EXPECT_LT(e.deviation.rms(), 0.05);
  }
  EXPECT_LE(changes, 5);
  const RowAlignment apart{last.offset + 0.5, last.roll - 1, last.zoom, last.keystone};
  EXPECT_LT(apart.rms(), 0.03);
}

// A value near the limit would otherwise switch the alignment on and off.
TEST(RowFilter, DoesNotSwitchAtTheLimit) {
  RowFilter filter;
  int switches = 0;
  bool was_aligned = false;
  for (int i = 0; i < 20; ++i) {
    const bool is_aligned = filter.next(measured(pair_of(i, RowEstimate::least_rms, 0))).alignment.has_value();
    switches += is_aligned != was_aligned;
    was_aligned = is_aligned;
  }
  EXPECT_LE(switches, 1);
}

TEST(RowFilter, APairWithoutTextureHasTheRowsOfTheEarlierOnes) {
  RowFilter filter;
  RowEstimate before;
  for (int i = 0; i < 5; ++i) before = filter.next(measured(pair_of(i, 1, 2)));
  const Image<std::uint8_t> flat(size, 1, 100);
  const RowEstimate e = filter.next(measure_rows(flat.view(), flat.view()));
  EXPECT_EQ(e.tracks, 0);
  ASSERT_TRUE(e.alignment.has_value()) << e.sentence();
  const RowAlignment &a = *e.alignment, &b = *before.alignment;
  EXPECT_LT((RowAlignment{a.offset - b.offset, a.roll - b.roll, a.zoom - b.zoom, a.keystone - b.keystone}.rms()), 0.05);
  EXPECT_EQ(RowFilter().next(measure_rows(flat.view(), flat.view())).reason, NoAlignment::few_tracks);
}

// Small pairs that say little, such as unrelated ones, are not aligned however many there are.
TEST(RowFilter, FewTracksAreNoAlignment) {
  RowFilter filter;
  for (int i = 0; i < 4; ++i) {
    const Scene scene = make_scene(
        {.size = {90, 60}, .disparities = 16, .seed = static_cast<std::uint64_t>(i) + 1, .vertical_offset = 1});
    const RowEstimate e = filter.next(measured(scene));
    EXPECT_FALSE(e.alignment.has_value()) << e.sentence();
    EXPECT_EQ(e.reason, NoAlignment::few_tracks);
  }
}

TEST(RowFilter, StartsAgainAfterACut) {
  RowFilter filter;
  for (int i = 0; i < 5; ++i) filter.next(measured(pair_of(i, 1, 2)));
  const RowMeasurement other = measured(pair_of(9, -1, -2, "street"));
  RowFilter fresh;
  EXPECT_EQ(filter.next(other).alignment, fresh.next(other).alignment);
  EXPECT_EQ(filter.next(measured(pair_of(7, -1, -2, "street"))).reason, NoAlignment::none);
}

TEST(RowFilter, TheFirstPairIsThatOfASingleEstimate) {
  const Scene pair = pair_of(0, 0.5, 1);
  const RowEstimate alone = estimate_row_alignment(pair.left.view(), pair.right.view()),
                    first = RowFilter().next(measured(pair));
  ASSERT_TRUE(alone.alignment && first.alignment);
  const RowAlignment &a = *alone.alignment, &b = *first.alignment;
  EXPECT_LT((RowAlignment{a.offset - b.offset, a.roll - b.roll, a.zoom - b.zoom, a.keystone - b.keystone}.rms()), 0.02);
  EXPECT_LT(first.tracks, alone.tracks);
}

// A pair of cameras that pitch, so that the images show other rows of the scene. The right image is taken later, by a part
// of the time between two pairs.
RowMeasurement pitching(int number, double delay) {
  static const Scene scene = make_scene({.size = {400, 420}, .disparities = 48});
  const auto first_row = [](int i) {
    return static_cast<int>(std::lround(60 + 20 * std::sin(0.7 * i) + 9 * std::sin(1.9 * i)));
  };
  const double motion = (first_row(number - 1) - first_row(number + 1)) / 2.0;
  const RectifiedView right = with_aligned_rows(scene.right.view(), {-motion * delay - 0.3, 0, 0, 0});
  const auto rows_of = [&](AnyImageView view) {
    view.data = &view.as<std::uint8_t>()(0, first_row(number));
    view.height = 300;
    return view;
  };
  return measure_rows(rows_of(scene.left.view()), rows_of(right.image.view()));
}

TEST(RowFilter, ShuttersAreOutOfStepIfTheOffsetFollowsThePitch) {
  for (const double delay : {0.05, -0.03}) {
    RowFilter filter;
    for (int i = 0; i < 30; ++i) {
      EXPECT_FALSE(i < 20 && filter.shutters());
      filter.next(pitching(i, delay));
    }
    const auto found = filter.shutters();
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->pairs, delay, 0.005);
    EXPECT_GT(std::abs(found->correlation), 0.9);
    EXPECT_NE(found->sentence().find(delay > 0 ? "later" : "earlier"), std::string::npos) << found->sentence();
  }
}

TEST(RowFilter, ShuttersAreNotBlamedForOtherJumps) {
  RowFilter pitched, bumped;
  for (int i = 0; i < 30; ++i) {
    pitched.next(pitching(i, 0));
    bumped.next(measured(pair_of(i, bumpy(i), 0.5)));
  }
  EXPECT_FALSE(pitched.shutters());
  EXPECT_FALSE(bumped.shutters());
}

TEST(RowFilter, IsTheSameOnEveryMachine) {
  RowFilter filter;
  for (int i = 0; i < 3; ++i) filter.next(measured(pair_of(i, bumpy(i), 1)));
  const RowEstimate e = filter.next(measured(pair_of(3, bumpy(3), 1)));
  const RowAlignment expected{-504, -987, -5, -144};
  EXPECT_EQ(e.plane.offset * 1024, expected.offset);
  EXPECT_EQ(e.plane.roll * 1024, expected.roll);
  EXPECT_EQ(e.plane.zoom * 1024, expected.zoom);
  EXPECT_EQ(e.plane.keystone * 1024, expected.keystone);
}

}  // namespace
}  // namespace stereopsis::row_filter_test
