#include "stages/segment_support/segment_support.hpp"

#include "stages/slic/slic.hpp"
#include "support/cost_volumes.hpp"
#include "support/devices.hpp"

namespace stereopsis::segment_support_test {
namespace {

using namespace test;

void expect_equal_oracle_on(PitchedImage<std::uint32_t>& segments, const segment_support::Parameters& p,
                            int disparities, int lowest_cost = 0) {
  const Size size = segments.view().size();
  const auto costs = random_volume<std::uint8_t>(size, disparities, 3, lowest_cost, 255);
  Volume<std::uint16_t> expected(size, disparities);
  segment_support::oracle(p, segments, costs.view(), expected.view());
  for_each_engine([&](Threads& threads) {
    for (int run = 0; run < 2; ++run) {
      Scratch scratch(segment_support::scratch_bytes(size, disparities, threads.count()));
      auto got = poisoned_volume<std::uint16_t>(size, disparities);
      segment_support::cpu(p, segments, costs.view(), got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    }
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::uint32_t> segments_there(device, queue, segments);
    const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
    VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities);
    segment_support::gpu(p, segments_there, costs_there.volume(), got.volume(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

void expect_all_equal_oracle(const segment_support::Parameters& p, Size size, int disparities, int cell) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", window " << p.window
                                  << ", cell " << cell);
  PitchedImage<std::uint32_t> segments(size);
  slic::oracle({.cell = cell, .compactness = 20, .iterations = 2}, random_words(size, 5), segments);
  expect_equal_oracle_on(segments, p, disparities);
}

TEST(SegmentSupport, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int disparities : {1, 37}) expect_all_equal_oracle({}, size, disparities, 9);
  for (const int window : {1, 63}) expect_all_equal_oracle({window}, {70, 41}, 20, 16);
  expect_all_equal_oracle({3}, {41, 20}, 150, 8);
  skip_without_gpu();
}

// Tests the largest sums, for a segment that fills 3×3 cells of 64×64 pixels, and the largest means.
TEST(SegmentSupport, LargestCostsFit) {
  const std::uint32_t middle = (8 * 24 + 8) | 64u << slic::number_bits;
  PitchedImage<std::uint32_t> segments(Image<std::uint32_t>(Size{192, 192}, 1, middle).view());
  expect_equal_oracle_on(segments, {63}, 3, 255);
}

TEST(SegmentSupportOracle, AddsTheMeansOfSegmentAndWindow) {
  Image<std::uint32_t> segments(Size{4, 1}, 1, 0);
  segments(2, 0) = segments(3, 0) = 1;
  Volume<std::uint8_t> costs({4, 1}, 1);
  const int values[] = {10, 21, 40, 80};
  for (int x = 0; x < 4; ++x) costs(x, 0, 0) = static_cast<std::uint8_t>(values[x]);
  Volume<std::uint16_t> aggregated({4, 1}, 1);
  segment_support::oracle({1}, segments, costs, aggregated);
  EXPECT_EQ(aggregated(0, 0, 0), 64 * 31 + 128 * 10);
  EXPECT_EQ(aggregated(3, 0, 0), 64 * 120 + 128 * 80);
  segment_support::oracle({3}, segments, costs, aggregated);
  EXPECT_EQ(aggregated(1, 0, 0), 64 * 31 + (128 * 71 + 1) / 3);  // the window includes the other segment
}

TEST(SegmentSupportParameters, AreChecked) {
  EXPECT_THROW(check_ranges("aggregation", segment_support::Parameters{.window = 4}), Error);
  EXPECT_THROW(check_ranges("aggregation", segment_support::Parameters{.window = 65}), Error);
}

}  // namespace
}  // namespace stereopsis::segment_support_test
