#include "stages/ad_census/ad_census.hpp"

#include "support/cost_volumes.hpp"
#include "support/words.hpp"

namespace stereopsis::ad_census_test {
namespace {

using namespace test;

void expect_all_equal_oracle(const ad_census::Parameters& p, int channels) {
  for_each_volume([&](Size size, DisparityRange range) {
    PitchedImage<std::uint8_t> left(random_image<std::uint8_t>(size, 1, 0, 255, channels).view());
    PitchedImage<std::uint8_t> right(random_image<std::uint8_t>(size, 2, 0, 255, channels).view());
    PitchedImage<std::uint64_t> left_census(random_words<std::uint64_t>(size, 3).view());
    PitchedImage<std::uint64_t> right_census(random_words<std::uint64_t>(size, 4).view());
    const ad_census::Input input{left, right, left_census, right_census};
    Volume<std::uint8_t> expected(size, range.count);
    ad_census::oracle(p, input, range.min, expected.view());
    for_each_engine([&](Threads& threads) {
      Volume<std::uint8_t> got = poisoned_volume<std::uint8_t>(size, range.count);
      Scratch scratch(ad_census::scratch_bytes(size.width, range.count, threads.count()));
      ad_census::cpu(p, input, range.min, got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const OnDevice<std::uint8_t> left_there(device, queue, left), right_there(device, queue, right);
      const OnDevice<std::uint64_t> left_census_there(device, queue, left_census),
          right_census_there(device, queue, right_census);
      VolumeOnDevice<std::uint8_t> got(device, queue, size, range.count);
      ad_census::gpu(p, {left_there, right_there, left_census_there, right_census_there}, range.min, got.volume(),
                     queue);
      EXPECT_TRUE(same_cells(got.download(), expected));
    });
  });
}

TEST(AdCensus, DevicesEqualOracle) {
  expect_all_equal_oracle({}, 3);
  expect_all_equal_oracle({.lambda_colour = 100, .lambda_census = 0.1, .scale = 50}, 1);
  skip_without_gpu();
}

// The expected exponentials are 127 (1 − e⁻¹) = 80.3 and 127 (1 − e^(−1/3)) = 36.0.
TEST(AdCensusOracle, AddsColourAndCensus) {
  Image<std::uint8_t> left(2, 1, 3), right(2, 1, 3);
  left.fill(100);
  right.fill(100);
  for (int c = 0; c < 3; ++c) right(0, 0, c) = static_cast<std::uint8_t>(c == 1 ? 120 : 95);  // a mean of 10
  Image<std::uint64_t> left_census(2, 1), right_census(2, 1);
  left_census.fill(0);
  right_census.fill(0);
  right_census(0, 0) = 0x3FF;  // 10 bits
  Volume<std::uint8_t> costs({2, 1}, 3);
  ad_census::oracle({}, {left, right, left_census, right_census}, 0, costs.view());
  EXPECT_EQ(costs(1, 0, 0), 0);
  EXPECT_EQ(costs(1, 0, 1), 80 + 36);
  EXPECT_EQ(costs(1, 0, 2), 80 + 36);  // the candidate is outside, so the nearest right pixel counts
}

TEST(AdCensusParameters, EachHasAnEffectAndBadOnesAreRefused) {
  const Size size{20, 5};
  const auto left = random_image<std::uint8_t>(size, 1, 0, 60, 3),
             right = random_image<std::uint8_t>(size, 2, 0, 60, 3);
  const auto left_census = random_words<std::uint64_t>(size, 3), right_census = random_words<std::uint64_t>(size, 4);
  const auto costs_of = [&](const ad_census::Parameters& p) {
    Volume<std::uint8_t> costs(size, 6);
    ad_census::oracle(p, {left, right, left_census, right_census}, 0, costs.view());
    return costs;
  };
  const auto usual = costs_of({});
  for (const ad_census::Parameters& p :
       {ad_census::Parameters{.lambda_colour = 12}, {.lambda_census = 20}, {.scale = 90}})
    EXPECT_FALSE(same_cells(costs_of(p), usual));
  EXPECT_THROW(check_ranges("ad_census", ad_census::Parameters{.scale = 128}), Error);
  EXPECT_THROW(check_ranges("ad_census", ad_census::Parameters{.lambda_colour = 0}), Error);
}

}  // namespace
}  // namespace stereopsis::ad_census_test
