#include "stages/left_right/left_right.hpp"

#include <cmath>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::left_right_test {
namespace {

using namespace test;

constexpr float nan = invalid_disparity;
constexpr left_right::Parameters parameters[] = {{0}, {0.6}, {1}, {100}, {1, left_right::Compare::same}};

TEST(LeftRight, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const auto& p : parameters) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", threshold " << p.threshold);
      Map map = random_map(size, 3, -4, 12, 25);
      map.disparity(0, 0) = 3e38f;  // these disparities lead far outside the image
      map.disparity(size.width - 1, size.height - 1) = -INFINITY;
      PitchedImage<float> right(random_map(size, 4, -4, 12, 25).disparity.view());
      for_each_engine([&](Threads& threads) {
        expect_map_equals_oracle(
            map, [&](auto d, auto v) { left_right::oracle(p, right, d, v); },
            [&](auto d, auto v) { left_right::cpu(p, right, d, v, threads); });
      });
    }
}

TEST(LeftRight, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const auto& p : parameters) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", threshold " << p.threshold);
        Map map = random_map(size, 3, -4, 12, 25);
        map.disparity(0, 0) = 3e38f;
        map.disparity(size.width - 1, size.height - 1) = -INFINITY;
        PitchedImage<float> right(random_map(size, 4, -4, 12, 25).disparity.view());
        const OnDevice<float> right_there(device, queue, right);
        expect_gpu_map_equals_oracle(
            device, queue, map, [&](auto d, auto v) { left_right::oracle(p, right, d, v); },
            [&](auto d, auto v) { left_right::gpu(p, right_there, d, v, queue); });
      }
  });
}

Map checked(Map map, const std::vector<std::vector<float>>& right, double threshold = 1) {
  left_right::oracle({threshold}, map_of(right).disparity, map.disparity, map.validity);
  return map;
}

TEST(LeftRightOracle, KeepsWhatBothViewsSee) {
  // Left pixel 3 with disparity 2 corresponds to right pixel 1.
  const Map map = checked(map_of({{nan, nan, nan, 2}}), {{nan, 2, nan, nan}});
  EXPECT_EQ(map.disparity(3, 0), 2);
  EXPECT_EQ(map.validity(3, 0), 0);
  EXPECT_EQ(map.validity(0, 0), validity::no_candidate);  // the earlier reason is kept
}

TEST(LeftRightOracle, RemovesWhatTheRightViewDeniesOrDoesNotKnow) {
  for (const std::vector<float>& right : {std::vector<float>{nan, 4, nan, nan}, {2, nan, 2, 2}}) {
    const Map map = checked(map_of({{nan, nan, nan, 2}}), {right});
    EXPECT_TRUE(std::isnan(map.disparity(3, 0)));
    EXPECT_EQ(map.validity(3, 0), validity::left_right);
  }
}

TEST(LeftRightOracle, RemovesWhatPointsOutside) {
  const Map map = checked(map_of({{1, 0, 0, -1}}), {{0, 0, 0, 0}});
  EXPECT_TRUE(std::isnan(map.disparity(0, 0)));
  EXPECT_TRUE(std::isnan(map.disparity(3, 0)));
  EXPECT_EQ(map.disparity(1, 0), 0);
}

TEST(LeftRightOracle, RoundsToTheNearestRightPixelHalvesUp) {
  // x' = 3 − ⌊d + 0.5⌋: a disparity of 1.4 leads to pixel 2, and 1.5 to pixel 1.
  EXPECT_EQ(checked(map_of({{nan, nan, nan, 1.4f}}), {{nan, nan, 1, nan}}).disparity(3, 0), 1.4f);
  EXPECT_EQ(checked(map_of({{nan, nan, nan, 1.5f}}), {{nan, 1, nan, nan}}).disparity(3, 0), 1.5f);
  EXPECT_EQ(checked(map_of({{-1.5f, nan, nan, nan}}), {{nan, -1, nan, nan}}).disparity(0, 0), -1.5f);
}

TEST(LeftRightParameters, TheThresholdIsTheLargestDifferenceThatStands) {
  const std::vector<std::vector<float>> right = {{nan, 3, nan, nan}};
  EXPECT_EQ(checked(map_of({{nan, nan, nan, 2}}), right, 1).disparity(3, 0), 2);
  EXPECT_TRUE(std::isnan(checked(map_of({{nan, nan, nan, 2}}), right, 0.9).disparity(3, 0)));
}

TEST(LeftRightParameters, TheSamePixelOfBothMapsCanBeCompared) {
  Map map = map_of({{nan, nan, nan, 2}});
  left_right::oracle({1, left_right::Compare::same}, map_of({{nan, 2, nan, 5}}).disparity, map.disparity, map.validity);
  EXPECT_TRUE(std::isnan(map.disparity(3, 0)));
  map = map_of({{nan, nan, nan, 2}});
  left_right::oracle({1, left_right::Compare::same}, map_of({{nan, 9, nan, 3}}).disparity, map.disparity, map.validity);
  EXPECT_EQ(map.disparity(3, 0), 2);
}

TEST(LeftRightParameters, RangesAndSizesAreRefused) {
  EXPECT_THROW(check_ranges("left_right", left_right::Parameters{-0.1}), Error);
  EXPECT_THROW(check_ranges("left_right", left_right::Parameters{101}), Error);
  EXPECT_NO_THROW(check_ranges("left_right", left_right::Parameters{0}));
  Map map = map_of({{1, 2}});
  const Image<float> right({3, 1}, 1, 0);
  Threads threads(1);
  EXPECT_THROW(left_right::oracle({}, right, map.disparity, map.validity), Error);
  EXPECT_THROW(left_right::cpu({}, right, map.disparity, map.validity, threads), Error);
}

}  // namespace
}  // namespace stereopsis::left_right_test
