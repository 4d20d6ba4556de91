#include "stages/speckle/speckle.hpp"

#include <cmath>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::speckle_test {
namespace {

using namespace test;

constexpr float nan = invalid_disparity;

void run_cpu(const speckle::Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity,
             Threads& threads) {
  std::vector<std::uint64_t> scratch((speckle::scratch_bytes(disparity.size()) + 7) / 8, 0xA5A5A5A5A5A5A5A5);
  speckle::cpu(p, disparity, validity, std::as_writable_bytes(std::span(scratch)), threads);
}

void expect_cpu_equals_oracle(const speckle::Parameters& p, const Map& map) {
  SCOPED_TRACE(testing::Message() << map.disparity.width() << "x" << map.disparity.height() << ", size " << p.size
                                  << ", difference " << p.difference);
  for_each_engine([&](Threads& threads) {
    expect_map_equals_oracle(
        map, [&](auto d, auto v) { speckle::oracle(p, d, v); }, [&](auto d, auto v) { run_cpu(p, d, v, threads); });
  });
}

void expect_gpu_equals_oracle(gpu::Device& device, gpu::Queue& queue, const speckle::Parameters& p, const Map& map) {
  SCOPED_TRACE(testing::Message() << map.disparity.width() << "x" << map.disparity.height() << ", size " << p.size
                                  << ", difference " << p.difference);
  const gpu::Buffer scratch = poisoned(device, queue, speckle::gpu_scratch_bytes(map.disparity.size()));
  expect_gpu_map_equals_oracle(
      device, queue, map, [&](auto d, auto v) { speckle::oracle(p, d, v); },
      [&](auto d, auto v) { speckle::gpu(p, d, v, scratch.span(), queue); });
}

TEST(Speckle, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const int invalid_percent : {0, 30, 60, 100})
      for (const double difference : {0.0, 1.0, 2.5})
        for (const int region : {0, 2, 7, 100})
          expect_cpu_equals_oracle({region, difference}, random_map(size, 6, 0, 5, invalid_percent));
}

// Tests rows of exactly one word, and of one pixel less and one more, and regions that wind through many rows and
// words.
TEST(Speckle, WindingRegions) {
  for (const int width : {63, 64, 65, 128, 129, 191})
    for (const int step : {2, 3, 5}) {
      Map map{Image<float>({width, 41}, 1, 0), Image<std::uint8_t>({width, 41}, 1, 0)};
      for (int y = 1; y < 41; y += step)  // walls with gaps at alternating ends
        for (int x = 0; x < width; ++x)
          if (x != (y / step % 2 == 0 ? 0 : width - 1)) map.disparity(x, y) = nan;
      map.disparity(width / 2, 0) = 40;  // this pixel divides the region
      for (const int region : {2, width, 20 * width, 41 * width}) expect_cpu_equals_oracle({region, 1}, map);
    }
}

TEST(Speckle, SpiralsAndCombsJoinLate) {
  Map map{Image<float>({130, 67}, 1, nan), Image<std::uint8_t>({130, 67}, 1, validity::ambiguous)};
  for (int x = 0; x < 130; x += 2)  // vertical strips that are connected only in the last row
    for (int y = x % 7; y < 67; ++y) map.disparity(x, y) = 7, map.validity(x, y) = 0;
  for (int x = 0; x < 100; ++x) map.disparity(x, 66) = 7;
  for (const int region : {60, 68, 1000, 100000}) expect_cpu_equals_oracle({region, 0}, map);
}

TEST(Speckle, InfinitiesBelongToNobody) {
  Map map = random_map({70, 20}, 1, 0, 2, 10);
  for (int i = 0; i < 20; ++i) map.disparity(3 * i, i) = i % 2 == 0 ? INFINITY : -INFINITY;
  expect_cpu_equals_oracle({2, 1}, map);
  expect_cpu_equals_oracle({50, 1}, map);
}

// Noise, and a region that winds through the whole image.
TEST(Speckle, GpuEqualsOracle) {
  Map walls{Image<float>({191, 41}, 1, 0), Image<std::uint8_t>({191, 41}, 1, 0)};
  for (int y = 1; y < 41; y += 2)  // walls with gaps at alternating ends
    for (int x = 0; x < 191; ++x)
      if (x != (y / 2 % 2 == 0 ? 0 : 190)) walls.disparity(x, y) = nan;
  walls.disparity(95, 0) = 40;  // this pixel divides the region
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int invalid_percent : {0, 30, 60, 100})
        for (const double difference : {0.0, 1.0, 2.5})
          for (const int region : {0, 2, 7, 100})
            expect_gpu_equals_oracle(device, queue, {region, difference}, random_map(size, 6, 0, 5, invalid_percent));
    for (const int region : {2, 191, 20 * 191, 41 * 191}) expect_gpu_equals_oracle(device, queue, {region, 1}, walls);
    Map infinite = random_map({70, 20}, 1, 0, 2, 10);
    for (int i = 0; i < 20; ++i) infinite.disparity(3 * i, i) = i % 2 == 0 ? INFINITY : -INFINITY;
    expect_gpu_equals_oracle(device, queue, {50, 1}, infinite);
  });
}

Map filtered(Map map, const speckle::Parameters& p) {
  speckle::oracle(p, map.disparity, map.validity);
  return map;
}

TEST(SpeckleOracle, RemovesSmallRegionsOnly) {
  const Map map = filtered(map_of({{5, 5, 5, 5, 5}, {5, 9, 9, 5, 5}, {5, 5, 5, 5, 5}}), {3, 1});
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) {
      const bool speckle = y == 1 && (x == 1 || x == 2);
      EXPECT_EQ(std::isnan(map.disparity(x, y)), speckle);
      EXPECT_EQ(map.validity(x, y), speckle ? validity::speckle : 0);
    }
}

TEST(SpeckleOracle, SlantedSurfacesHoldTogetherAndDiagonalsDoNot) {
  EXPECT_FALSE(std::isnan(filtered(map_of({{1, 2, 3, 4, 5}}), {5, 1}).disparity(0, 0)));
  const Map map = filtered(map_of({{1, nan}, {nan, 1}}), {2, 1});
  EXPECT_TRUE(std::isnan(map.disparity(0, 0)));
  EXPECT_EQ(map.validity(1, 0), validity::no_candidate);
}

TEST(SpeckleParameters, SizeIsTheSmallestRegionThatStays) {
  const Map map = map_of({{1, 1, 1, nan}});
  EXPECT_TRUE(filtered(map, {0, 1}) == map);
  EXPECT_TRUE(filtered(map, {3, 1}) == map);
  EXPECT_FALSE(filtered(map, {4, 1}) == map);
}

TEST(SpeckleParameters, DifferenceIsTheLargestThatHoldsTogether) {
  const Map map = map_of({{1, 2, 3}});
  EXPECT_TRUE(filtered(map, {3, 1}) == map);
  EXPECT_FALSE(filtered(map, {3, 0.99}) == map);
}

TEST(SpeckleParameters, RangesScratchAndHugeImagesAreRefused) {
  EXPECT_THROW(check_ranges("speckle", speckle::Parameters{-1, 1}), Error);
  EXPECT_THROW(check_ranges("speckle", speckle::Parameters{1'000'001, 1}), Error);
  EXPECT_THROW(check_ranges("speckle", speckle::Parameters{100, -1}), Error);
  EXPECT_THROW(check_ranges("speckle", speckle::Parameters{100, 101}), Error);
  EXPECT_THROW(speckle::scratch_bytes({65536, 32768}), Error);
  Map map = map_of({{1, 2, 3}});
  std::vector<std::byte> scratch(speckle::scratch_bytes({3, 1}) - 1);
  Threads threads(1);
  EXPECT_THROW(speckle::cpu({}, map.disparity, map.validity, scratch, threads), Error);
}

}  // namespace
}  // namespace stereopsis::speckle_test
