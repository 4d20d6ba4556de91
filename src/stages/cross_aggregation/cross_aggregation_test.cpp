#include "stages/cross_aggregation/cross_aggregation.hpp"

#include "support/cost_volumes.hpp"
#include "support/random_arms.hpp"

namespace stereopsis::cross_aggregation_test {
namespace {

using namespace test;
using cross_aggregation::Support;

void expect_all_equal_oracle(const cross_aggregation::Parameters& p, Size size, DisparityRange range, int longest) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << range.count << " from " << range.min
                                  << ", iterations " << p.iterations);
  PitchedImage<std::uint32_t> left(random_arms(size, 1, longest).view()), right(random_arms(size, 2, longest).view());
  const auto costs = random_volume<std::uint8_t>(size, range.count, 3, 0, 255);
  Volume<std::uint8_t> expected = copy_of(costs.view());
  cross_aggregation::oracle(p, {left, right, longest}, range.min, expected.view());
  for_each_engine([&](Threads& threads) {
    Volume<std::uint8_t> got = copy_of(costs.view());
    Scratch scratch(cross_aggregation::scratch_bytes(size, range.count, threads.count()));
    cross_aggregation::cpu(p, {left, right, longest}, range.min, got.view(), scratch.span(), threads);
    EXPECT_TRUE(same_cells(got, expected));
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right);
    VolumeOnDevice<std::uint8_t> got(device, queue, costs.view());
    const gpu::Buffer scratch = poisoned(device, queue, cross_aggregation::gpu_scratch_bytes(size, range.count));
    cross_aggregation::gpu(p, {left_there, right_there, longest}, range.min, got.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(CrossAggregation, DevicesEqualOracle) {
  for_each_volume([&](Size size, DisparityRange range) { expect_all_equal_oracle({.iterations = 2}, size, range, 6); });
  expect_all_equal_oracle({}, {67, 13}, {0, 20}, 12);
  expect_all_equal_oracle({.iterations = 3, .support = Support::left}, {67, 13}, {-2, 20}, 12);
  skip_without_gpu();
}

TEST(CrossAggregation, DevicesEqualOracleWithManyDisparities) {
  for (const int iterations : {1, 2, 3, 4}) expect_all_equal_oracle({iterations}, {150, 43}, {-5, 71}, 33);
  expect_all_equal_oracle({}, {150, 43}, {-5, 71}, 34);
  for (const Size size : {Size{1, 1}, Size{1, 77}, Size{300, 1}, Size{33, 65}}) {
    expect_all_equal_oracle({}, size, {0, 33}, 33);
    expect_all_equal_oracle({.iterations = 3, .support = Support::left}, size, {-64, 128}, 33);
  }
  skip_without_gpu();
}

// The sums for the longest arms and the largest costs approach the limits of their integer types.
TEST(CrossAggregation, DevicesEqualOracleWithTheLongestArms) {
  const Size size{300, 260};
  Image<std::uint32_t> arms(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      arms(x, y) = cross::word_of({std::min(x, cross::longest_arm), std::min(size.width - 1 - x, cross::longest_arm),
                                   std::min(y, cross::longest_arm), std::min(size.height - 1 - y, cross::longest_arm)});
  PitchedImage<std::uint32_t> left(arms.view());
  Volume<std::uint8_t> costs(size, 1);
  std::memset(costs.view().data, 255, static_cast<std::size_t>(size.width) * size.height);
  costs(150, 130, 0) = 0;
  const cross_aggregation::Parameters p{.iterations = 1, .support = Support::left};
  Threads threads(2);
  Scratch scratch(cross_aggregation::scratch_bytes(size, 1, threads.count()));
  Volume<std::uint8_t> got = copy_of(VolumeView<const std::uint8_t>(costs.view()));
  cross_aggregation::cpu(p, {left, {}}, 0, got.view(), scratch.span(), threads);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) ASSERT_EQ(got(x, y, 0), 255) << x << ", " << y;
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::uint32_t> left_there(device, queue, left);
    VolumeOnDevice<std::uint8_t> there(device, queue, VolumeView<const std::uint8_t>(costs.view()));
    const gpu::Buffer memory = poisoned(device, queue, cross_aggregation::gpu_scratch_bytes(size, 1));
    cross_aggregation::gpu(p, {left_there, {}}, 0, there.volume(), memory.span(), queue);
    EXPECT_TRUE(same_cells(there.download(), got));
  });
}

// To the left of the colour edge, the mean contains no pixel from the right side of the edge.
TEST(CrossAggregationOracle, AveragesWithinTheRegion) {
  Image<std::uint32_t> arms(4, 1);
  arms(0, 0) = cross::word_of({0, 1, 0, 0});
  arms(1, 0) = cross::word_of({1, 0, 0, 0});
  arms(2, 0) = cross::word_of({0, 1, 0, 0});
  arms(3, 0) = cross::word_of({1, 0, 0, 0});
  Volume<std::uint8_t> costs({4, 1}, 1);
  for (int x = 0; x < 4; ++x) costs(x, 0, 0) = static_cast<std::uint8_t>(std::array{10, 21, 100, 200}[x]);
  cross_aggregation::oracle({.iterations = 1, .support = Support::left}, {arms, {}}, 0, costs.view());
  EXPECT_EQ(costs(0, 0, 0), 16);  // 15.5, rounded
  EXPECT_EQ(costs(1, 0, 0), 16);
  EXPECT_EQ(costs(2, 0, 0), 150);
}

TEST(CrossAggregationOracle, BothViewsBoundARegion) {
  Image<std::uint32_t> plain(3, 1), none(3, 1);
  for (int x = 0; x < 3; ++x) plain(x, 0) = cross::word_of({x, 2 - x, 0, 0});
  none.fill(0);
  Volume<std::uint8_t> costs({3, 1}, 1);
  for (int x = 0; x < 3; ++x) costs(x, 0, 0) = static_cast<std::uint8_t>(30 * x);
  Volume<std::uint8_t> together = copy_of(VolumeView<const std::uint8_t>(costs.view()));
  cross_aggregation::oracle({.iterations = 1, .support = Support::left}, {plain, none}, 0, together.view());
  EXPECT_EQ(together(0, 0, 0), 30);
  cross_aggregation::oracle({.iterations = 1}, {plain, none}, 0, costs.view());
  EXPECT_EQ(costs(0, 0, 0), 0);
}

TEST(CrossAggregationParameters, EachHasAnEffectAndMissingArmsAreRefused) {
  const Size size{40, 20};
  const auto left = random_arms(size, 1, 9), right = random_arms(size, 2, 9);
  const auto costs = random_volume<std::uint8_t>(size, 3, 3, 0, 255);
  const auto aggregated = [&](const cross_aggregation::Parameters& p) {
    Volume<std::uint8_t> means = copy_of(costs.view());
    cross_aggregation::oracle(p, {left, right}, 0, means.view());
    return means;
  };
  EXPECT_FALSE(same_cells(aggregated({}), aggregated({.iterations = 3})));
  EXPECT_FALSE(same_cells(aggregated({}), aggregated({.support = Support::left})));
  Volume<std::uint8_t> means = copy_of(costs.view());
  EXPECT_THROW(cross_aggregation::oracle({}, {left, {}}, 0, means.view()), Error);
}

}  // namespace
}  // namespace stereopsis::cross_aggregation_test
