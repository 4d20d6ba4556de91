// Tests of the matches in two dimensions: where they are found, and that they are the same everywhere.
#include "sparse/matches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stereopsis/synth.hpp"
#include "support/sanitized.hpp"

namespace stereopsis::matches_test {
namespace {

Scene scene(double offset, double slope) {
  return make_scene({.scene = "table",
                     .size = {640, 480},
                     .disparities = 64,
                     .noise = 2,
                     .vertical_offset = offset,
                     .vertical_slope = slope});
}

sparse::PairMatches matches_of(const Scene& pair, int rows = 24) {
  return find_matches(sparse::Side(pair.left.view()), sparse::Side(pair.right.view()), rows);
}

// The limits are those of the true disparity, and of rows that were moved by a known amount.
void expect_right(const Scene& pair, const std::vector<sparse::Match>& matches, double offset, double slope) {
  int right = 0;
  for (const sparse::Match& m : matches) {
    const double row = offset + slope * ((m.x - m.dx + 0.5) / 640 - 0.5);
    right += std::abs(m.dx - pair.disparity_left(m.x, m.y)) < 1 && std::abs(std::abs(m.dy) - std::abs(row)) < 0.7;
    EXPECT_EQ(m.dx * 256, std::round(m.dx * 256));
    EXPECT_EQ(m.dy * 256, std::round(m.dy * 256));
    EXPECT_GE(m.uniqueness, 0);
    EXPECT_LE(m.uniqueness, 1);
  }
  EXPECT_GE(right, 0.75 * static_cast<double>(matches.size()));
}

TEST(Matches, AreFoundWhereverRowsLie) {
  for (const auto& [offset, slope] :
       {std::pair{0.0, 0.0}, {0.5, 0.0}, {8.0, 0.0}, {-20.0, 0.0}, {0.0, 6.0}, {-8.0, 6.0}}) {
    if (sanitized && slope == 0) continue;  // rendering the scenes takes most of the time
    SCOPED_TRACE(testing::Message() << offset << " " << slope);
    const Scene pair = scene(offset, slope);
    const sparse::PairMatches matches = matches_of(pair);
    EXPECT_GE(matches.refined.size(), 600U);
    EXPECT_GE(matches.coarse.share(), 0.4);
    expect_right(pair, matches.refined, offset, slope);
  }
}

// A search that only finds rows that agree would return those matches alone.
TEST(Matches, AreNotSelectedByTheirRows) {
  const Scene pair = scene(0, 6);
  const auto matches = matches_of(pair).refined;
  const auto in_third = [&](int third) {
    return std::ranges::count_if(matches, [&](const sparse::Match& m) { return m.x * 3 / 640 == third; });
  };
  EXPECT_GE(in_third(0), in_third(1) / 2);
  EXPECT_GE(in_third(2), in_third(1) / 2);
}

TEST(Matches, AreTheSameOnEveryMachine) {
  std::uint64_t hash = 14695981039346656037U;
  for (const sparse::Match& m : matches_of(scene(1, 2)).refined)
    for (const double value : {m.x * 256.0, m.y * 256.0, m.dx * 256, m.dy * 256, m.uniqueness * 256}) {
      hash ^= static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      hash *= 1099511628211U;
    }
  EXPECT_EQ(hash, 380206590924833219U);
}

TEST(Matches, OfFlatImagesDoNotExist) {
  const Image<std::uint8_t> flat({320, 240}, 1, 100);
  const sparse::PairMatches none = find_matches(sparse::Side(flat.view()), sparse::Side(flat.view()), 24);
  EXPECT_TRUE(none.refined.empty());
  EXPECT_EQ(none.coarse.share(), 0);
}

}  // namespace
}  // namespace stereopsis::matches_test
