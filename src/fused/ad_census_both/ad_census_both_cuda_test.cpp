#include "fused/ad_census_both/ad_census_both_cuda.hpp"

#include "support/cost_volumes.hpp"
#include "support/random_arms.hpp"
#include "support/words.hpp"

namespace stereopsis::ad_census_both_cuda_test {
namespace {

using namespace test;

struct Pair {
  Pair(Size size, int channels, int longest)
      : left(random_image<std::uint8_t>(size, 1, 0, 255, channels).view()),
        right(random_image<std::uint8_t>(size, 2, 0, 255, channels).view()),
        left_census(random_words<std::uint64_t>(size, 3).view()),
        right_census(random_words<std::uint64_t>(size, 4).view()),
        left_arms(random_arms(size, 5, longest).view()),
        right_arms(random_arms(size, 6, longest).view()) {}

  PitchedImage<std::uint8_t> left, right;
  PitchedImage<std::uint64_t> left_census, right_census;
  PitchedImage<std::uint32_t> left_arms, right_arms;
};

// Returns the means of a view, computed by the oracles.
Volume<std::uint8_t> means_of(const ad_census_both::Parameters& p, Pair& in, Size size, DisparityRange range,
                              bool from_right) {
  Volume<std::uint8_t> costs(size, range.count);
  const ad_census::Input left{in.left, in.right, in.left_census, in.right_census};
  const ad_census::Input right{in.right, in.left, in.right_census, in.left_census};
  const cross_aggregation::Arms left_arms{in.left_arms, in.right_arms}, right_arms{in.right_arms, in.left_arms};
  const int min_disparity = from_right ? -range.max() : range.min;
  ad_census::oracle(p.cost, from_right ? right : left, min_disparity, costs.view());
  cross_aggregation::oracle(p.aggregation, from_right ? right_arms : left_arms, min_disparity, costs.view());
  return costs;
}

// Tests the property on which the fused kernel relies. The reason for the property is given in the header of the
// kernel.
TEST(AdCensusBothOracles, CellsOfTwoPixelsInsideAreTheSameInBothViews) {
  for (const int longest : {0, 3, 12, 33})
    for (const DisparityRange range : {DisparityRange{0, 30}, {7, 20}, {-9, 21}}) {
      const Size size{64, 21};
      Pair pair(size, 3, longest);
      const auto left = means_of({}, pair, size, range, false), right = means_of({}, pair, size, range, true);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          for (int k = 0; k < range.count; ++k) {
            const int left_x = x + range.min + k;
            if (left_x < 0 || left_x >= size.width) continue;
            ASSERT_EQ(right(x, y, range.count - 1 - k), left(left_x, y, k))
                << x << ", " << y << ", disparity " << range.min + k << ", arms of " << longest;
          }
    }
}

void expect_equals_oracles(const ad_census_both::Parameters& p, Size size, DisparityRange range, int channels,
                           int longest, gpu::Queue& queue, gpu::Device& device) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << range.count << " from " << range.min
                                  << ", iterations " << p.aggregation.iterations << ", arms of " << longest);
  ASSERT_TRUE(ad_census_both::cuda_serves(p, size, range, longest, queue.cuda_capability()));
  Pair pair(size, channels, longest);
  const auto left = means_of(p, pair, size, range, false), right = means_of(p, pair, size, range, true);
  const OnDevice<std::uint8_t> left_there(device, queue, pair.left), right_there(device, queue, pair.right);
  const OnDevice<std::uint64_t> left_census(device, queue, pair.left_census),
      right_census(device, queue, pair.right_census);
  const OnDevice<std::uint32_t> left_arms(device, queue, pair.left_arms), right_arms(device, queue, pair.right_arms);
  const gpu::Buffer scratch =
      poisoned(device, queue, ad_census_both::cuda_scratch_bytes(size, range, queue.cuda_capability()));
  for (int time = 0; time < 2; ++time) {
    VolumeOnDevice<std::uint8_t> got_left(device, queue, size, range.count),
        got_right(device, queue, size, range.count);
    ad_census_both::cuda(p, {left_there, right_there, left_census, right_census}, {left_arms, right_arms, longest},
                         range.min, got_left.volume(), got_right.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got_left.download(), left)) << "left view, time " << time;
    EXPECT_TRUE(same_cells(got_right.download(), right)) << "right view, time " << time;
  }
}

// Tests sizes and ranges close to those of lanes, groups and tiles.
TEST(AdCensusBothCuda, EqualsTheOracles) {
  for_each_tuned_gpu([](gpu::Queue& queue, gpu::Device& device) {
    const auto expect = [&](int iterations, Size size, DisparityRange range, int channels, int longest) {
      expect_equals_oracles({{}, {iterations}}, size, range, channels, longest, queue, device);
    };
    for (const int iterations : {1, 2, 3, 4}) expect(iterations, {150, 23}, {0, 71}, 3, 33);
    expect(4, {60, 9}, {0, 60}, 1, 12);
    expect(4, {61, 70}, {0, 60}, 3, 20);
    expect(2, {140, 5}, {0, 128}, 3, 33);
    expect(2, {300, 3}, {1, 129}, 1, 33);
    expect(1, {421, 2}, {3, 256}, 3, 33);
    expect(2, {129, 1}, {100, 28}, 3, 5);
    expect(3, {50, 60}, {0, 37}, 3, 33);
    expect_equals_oracles({{.lambda_colour = 100, .lambda_census = 0.1, .scale = 50}, {2}}, {400, 4}, {0, 64}, 1, 9,
                          queue, device);
  });
}

TEST(AdCensusBothCuda, ServesArmsOfBothViewsAndDisparitiesFrom0) {
  const auto serves = [](cross_aggregation::Parameters p, DisparityRange range, int longest) {
    return ad_census_both::cuda_serves({{}, p}, {200, 100}, range, longest, 90);
  };
  EXPECT_TRUE(serves({}, {0, 64}, 33));
  EXPECT_FALSE(serves({.support = cross_aggregation::Support::left}, {0, 64}, 33));
  EXPECT_FALSE(serves({}, {-1, 64}, 33));
  EXPECT_FALSE(serves({}, {0, 201}, 33));
  EXPECT_FALSE(serves({}, {0, 64}, 34));
  EXPECT_FALSE(serves({}, {0, 16}, 33));
}

}  // namespace
}  // namespace stereopsis::ad_census_both_cuda_test
