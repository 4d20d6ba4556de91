#include "sparse/shared_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "stereopsis/synth.hpp"
#include "support/sanitized.hpp"

namespace stereopsis::shared_pattern_test {
namespace {

// Adds a pattern to both images: for each pixel, or for each column.
void add_pattern(Scene& pair, double deviation, bool columns) {
  std::mt19937 random(7);
  const auto draw = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
    return deviation * sum;
  };
  std::vector<double> of_column(static_cast<std::size_t>(pair.left.width()));
  for (double& value : of_column) value = draw();
  for (int y = 0; y < pair.left.height(); ++y)
    for (int x = 0; x < pair.left.width(); ++x) {
      const double pattern = columns ? of_column[static_cast<std::size_t>(x)] : draw();
      for (Image<std::uint8_t>* image : {&pair.left, &pair.right})
        for (int c = 0; c < 3; ++c)
          (*image)(x, y, c) = static_cast<std::uint8_t>(std::clamp((*image)(x, y, c) + pattern, 0.0, 255.0));
    }
}

sparse::SharedPattern found(const Scene& pair) {
  const sparse::Side left(pair.left.view()), right(pair.right.view());
  return shared_pattern(find_matches(left, right, 24).refined, left.finest(), right.finest());
}

// Rendering takes longer than all else here: each scene is rendered once.
const Scene& scene(const std::string& name, int disparities = 64, unsigned seed = 1) {
  static std::map<std::tuple<std::string, int, unsigned>, Scene> rendered;
  Scene& known = rendered[{name, disparities, seed}];
  if (known.left.empty())
    known = make_scene({.scene = name, .size = {640, 480}, .disparities = disparities, .seed = seed, .noise = 2});
  return known;
}

TEST(SharedPattern, IsFoundInEveryScene) {
  for (const char* name : {"table", "room", "traffic", "hills"}) {
    if (sanitized && name != std::string("table")) continue;
    for (const auto& [deviation, columns] : {std::pair{6.0, false}, {8.0, true}}) {
      SCOPED_TRACE(testing::Message() << name << " " << deviation);
      Scene pair = scene(name);
      add_pattern(pair, deviation, columns);
      EXPECT_TRUE(found(pair).exists()) << found(pair).spike << " at " << found(pair).points;
    }
  }
}

// In a far scene, wrong matches of a repetitive pattern lie elsewhere, and the right ones near 0.
TEST(SharedPattern, IsNotFoundWithoutOne) {
  for (const std::string& name : scene_names())
    for (const int disparities : {64, 7}) {
      if (sanitized && (disparities == 64 || name != "repetitive")) continue;  // each scene runs the same code
      SCOPED_TRACE(testing::Message() << name << " " << disparities);
      const sparse::SharedPattern none = found(scene(name, disparities));
      EXPECT_FALSE(none.exists()) << none.spike << " at " << none.points;
    }
}

// Draws lines of letters over both images, half transparent.
void draw_mark(Scene& pair) {
  std::mt19937 random(5);
  for (const auto& [x0, y0, letters, scale] : {std::array{20, 430, 20, 3}, {150, 200, 12, 4}})
    for (int i = 0; i < letters * 35; ++i) {
      if (random() % 2 == 0) continue;
      const int left = x0 + (i / 35 * 6 + i % 5) * scale, top = y0 + i % 35 / 5 * scale;
      for (int y = top; y < top + scale; ++y)
        for (int x = left; x < left + scale; ++x)
          for (Image<std::uint8_t>* image : {&pair.left, &pair.right})
            for (int c = 0; c < 3; ++c) (*image)(x, y, c) = static_cast<std::uint8_t>(((*image)(x, y, c) + 255) / 2);
    }
}

sparse::FixedPattern found(const Scene& pair, const Scene& other) {
  const sparse::Side left(pair.left.view()), right(pair.right.view()), other_left(other.left.view()),
      other_right(other.right.view());
  return fixed_pattern(distinct(find_matches(left, right, 2).refined), left.finest(), right.finest(),
                       other_left.finest(), other_right.finest());
}

TEST(FixedPattern, IsFoundInTwoFrames) {
  for (const char* name : {"hills", "traffic", "mix"}) {
    if (sanitized && name != std::string("hills")) continue;
    SCOPED_TRACE(name);
    Scene pair = scene(name), other = scene(name, 64, 2);
    EXPECT_LE(found(pair, other).points, 1);
    draw_mark(pair), draw_mark(other);
    const sparse::FixedPattern mark = found(pair, other);
    EXPECT_TRUE(mark.exists()) << mark.points << ' ' << mark.others << ' ' << mark.still;
  }
}

// While the cameras stand, everything stays at its place.
TEST(FixedPattern, IsNotJudgedWhileTheCamerasStand) {
  Scene pair = scene("room"),
        other = make_scene({.scene = "room", .size = {640, 480}, .disparities = 64, .seed = 1, .noise = 3});
  draw_mark(pair), draw_mark(other);
  EXPECT_FALSE(found(pair, other).exists());
}

}  // namespace
}  // namespace stereopsis::shared_pattern_test
