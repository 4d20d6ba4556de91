#include "sparse/shared_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "stereopsis/synth.hpp"

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

Scene scene(const std::string& name, int disparities = 64) {
  return make_scene({.scene = name, .size = {640, 480}, .disparities = disparities, .noise = 2});
}

TEST(SharedPattern, IsFoundInEveryScene) {
  for (const char* name : {"table", "room", "traffic", "hills"})
    for (const auto& [deviation, columns] : {std::pair{6.0, false}, {8.0, true}}) {
      SCOPED_TRACE(testing::Message() << name << " " << deviation);
      Scene pair = scene(name);
      add_pattern(pair, deviation, columns);
      EXPECT_TRUE(found(pair).exists()) << found(pair).spike << " at " << found(pair).points;
    }
}

// In a far scene, wrong matches of a repetitive pattern lie elsewhere, and the right ones near 0.
TEST(SharedPattern, IsNotFoundWithoutOne) {
  for (const std::string& name : scene_names())
    for (const int disparities : {64, 7}) {
      SCOPED_TRACE(testing::Message() << name << " " << disparities);
      const sparse::SharedPattern none = found(scene(name, disparities));
      EXPECT_FALSE(none.exists()) << none.spike << " at " << none.points;
    }
}

}  // namespace
}  // namespace stereopsis::shared_pattern_test
