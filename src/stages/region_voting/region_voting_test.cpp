#include "stages/region_voting/region_voting.hpp"

#include "support/devices.hpp"
#include "support/random_arms.hpp"
#include "support/recording_queue.hpp"
#include "support/threads.hpp"

namespace stereopsis::region_voting_test {
namespace {

using namespace test;

constexpr float nan = invalid_disparity;

void expect_all_equal_oracle(const region_voting::Parameters& p, const Map& map, int longest) {
  const Size size = map.disparity.size();
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", iterations " << p.iterations);
  PitchedImage<std::uint32_t> arms(random_arms(size, 7, longest).view());
  const auto oracle = [&](auto disparity, auto validity) { region_voting::oracle(p, arms, {disparity, validity}); };
  for_each_thread_count([&](Threads& threads) {
    expect_map_equals_oracle(map, oracle, [&](auto disparity, auto validity) {
      std::vector<float> scratch(region_voting::scratch_bytes(size) / sizeof(float), 77.0f);
      region_voting::cpu(p, arms, {disparity, validity}, std::as_writable_bytes(std::span(scratch)), threads);
    });
  });
  for (gpu::Device* device : gpu::usable_devices()) {
    SCOPED_TRACE(device->name());
    const auto queue = device->make_queue();
    const OnDevice<std::uint32_t> arms_there(*device, *queue, arms);
    const gpu::Buffer scratch = poisoned(*device, *queue, region_voting::gpu_scratch_bytes(size));
    expect_gpu_map_equals_oracle(*device, *queue, map, oracle, [&](auto disparity, auto validity) {
      region_voting::gpu(p, arms_there, {disparity, validity}, scratch.span(), *queue);
    });
  }
}

TEST(RegionVoting, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int invalid_percent : {0, 30, 90, 100})
      expect_all_equal_oracle({.votes = 5, .share = 20}, random_map(size, 8, -2, 3, invalid_percent), 9);
  expect_all_equal_oracle({}, random_map({70, 41}, 8, 0, 2, 60), 20);
  expect_all_equal_oracle({.iterations = 1, .votes = 0, .share = 0}, random_map({70, 41}, 8, -9000, 9000, 60), 20);
  if (gpu::usable_devices().empty())
    GTEST_SKIP() << "on the processor alone; no GPU: " << gpu::cuda_devices().reason << "; "
                 << gpu::opencl_devices().reason;
}

// Computes the votes in a row in which the region of each pixel is the whole row.
Map voted(const region_voting::Parameters& p, const std::vector<float>& row,
          std::uint8_t reason = validity::left_right) {
  Map map = map_of({row}, reason);
  const int width = map.disparity.width();
  Image<std::uint32_t> arms(width, 1);
  for (int x = 0; x < width; ++x) arms(x, 0) = cross::word_of({x, width - 1 - x, 0, 0});
  region_voting::oracle(p, arms, {map.disparity, map.validity});
  return map;
}

TEST(RegionVotingOracle, TheWinnerNeedsVotesAndAShare) {
  const std::vector<float> row = {3, 3, 2.6f, 7, 8, nan};
  const Map map = voted({.votes = 4}, row);
  EXPECT_EQ(map.disparity(5, 0), 3);
  EXPECT_EQ(map.validity(5, 0), validity::filled);
  EXPECT_TRUE(std::isnan(voted({.votes = 5}, row).disparity(5, 0)));
  EXPECT_TRUE(std::isnan(voted({.votes = 4, .share = 60}, row).disparity(5, 0)));  // 3 of 5 is not more than 60 %
  EXPECT_EQ(voted({.votes = 4, .share = 59}, row).disparity(5, 0), 3);
}

TEST(RegionVotingOracle, WhatWasFilledVotesInTheNextIteration) {
  Map map = map_of({{5, nan, nan}});
  Image<std::uint32_t> arms(3, 1);
  arms(0, 0) = 0;
  arms(1, 0) = arms(2, 0) = cross::word_of({1, 0, 0, 0});
  const region_voting::Parameters p{.iterations = 1, .votes = 0};
  region_voting::oracle(p, arms, {map.disparity, map.validity});
  EXPECT_EQ(map.disparity(1, 0), 5);
  EXPECT_TRUE(std::isnan(map.disparity(2, 0)));
  region_voting::oracle(p, arms, {map.disparity, map.validity});
  EXPECT_EQ(map.disparity(2, 0), 5);
}

TEST(RegionVotingOracle, MaskedPixelsStayInvalid) {
  const Map map = voted({.votes = 1}, {3, 3, 3, nan}, validity::masked);
  EXPECT_TRUE(std::isnan(map.disparity(3, 0)));
  EXPECT_EQ(map.validity(3, 0), validity::masked);
}

}  // namespace
}  // namespace stereopsis::region_voting_test
