#include "stages/median/median.hpp"

#include <cmath>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::median_test {
namespace {

using namespace test;

constexpr float nan = invalid_disparity;

void expect_cpu_equals_oracle(const Image<float>& image) {
  PitchedImage<float> disparity(image.view());
  for (const int window : {3, 5})
    for_each_engine([&](Threads& threads) {
      SCOPED_TRACE(testing::Message() << image.width() << "x" << image.height() << ", window " << window);
      expect_equals_oracle<float>(
          image.size(), [&](auto out) { median::oracle({window}, disparity, out); },
          [&](auto out) { median::cpu({window}, disparity, out, threads); });
    });
}

TEST(Median, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const int invalid_percent : {0, 20, 70, 100})
      expect_cpu_equals_oracle(random_map(size, 5, -9, 40, invalid_percent).disparity);
}

// The 0-1 principle: a network that sorts all arrangements of zeros and ones also sorts any other values.
TEST(Median, AllArrangementsOfZerosAndOnes) {
  Image<float> image(3 * 512, 3);
  for (int n = 0; n < 512; ++n)
    for (int k = 0; k < 9; ++k) image(3 * n + k % 3, k / 3) = static_cast<float>(n >> k & 1);
  expect_cpu_equals_oracle(image);
}

// The 0-1 principle also applies to 5×5. Only the number of ones in each column is relevant for 5×5.
TEST(Median, AllColumnsOfZerosAndOnes) {
  constexpr int windows = 6 * 6 * 6 * 6 * 6;
  Image<float> image(5 * windows, 5);
  for (int n = 0; n < windows; ++n)
    for (int x = 0, counts = n; x < 5; ++x, counts /= 6)
      for (int y = 0; y < 5; ++y) image(5 * n + x, y) = y < counts % 6 ? 1.0f : 0.0f;
  expect_cpu_equals_oracle(image);
}

TEST(Median, InfinitiesAndSignedZeros) {
  Image<float> image = random_map({67, 13}, 8, -1, 1, 20).disparity;
  std::mt19937 generator(1);
  const float specials[] = {0.0f, -0.0f, INFINITY, -INFINITY, 1e-40f, 3e38f};
  for (int y = 0; y < 13; ++y)
    for (int x = 0; x < 67; ++x)
      if (generator() % 2 == 0) image(x, y) = specials[generator() % 6];
  expect_cpu_equals_oracle(image);
}

void expect_gpu_equals_oracle(gpu::Device& device, gpu::Queue& queue, const Image<float>& image) {
  PitchedImage<float> disparity(image.view());
  const OnDevice<float> there(device, queue, disparity);
  for (const int window : {3, 5}) {
    SCOPED_TRACE(testing::Message() << image.width() << "x" << image.height() << ", window " << window);
    test::expect_gpu_equals_oracle<float>(
        device, queue, image.size(), [&](auto out) { median::oracle({window}, disparity, out); },
        [&](auto out) { median::gpu({window}, there, out, queue); });
  }
}

TEST(Median, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int invalid_percent : {0, 20, 70, 100})
        expect_gpu_equals_oracle(device, queue, random_map(size, 5, -9, 40, invalid_percent).disparity);
    Image<float> image = random_map({67, 13}, 8, -1, 1, 20).disparity;
    const float specials[] = {0.0f, -0.0f, INFINITY, -INFINITY, 1e-30f, 3e38f};
    for (int i = 0; i < 67 * 13; i += 2) image(i % 67, i / 67) = specials[i / 2 % 6];
    expect_gpu_equals_oracle(device, queue, image);
  });
}

float median_of_centre(const std::vector<std::vector<float>>& rows, int window = 3) {
  const Map map = map_of(rows);
  Image<float> filtered(map.disparity.size());
  median::oracle({window}, map.disparity, filtered);
  return filtered(filtered.width() / 2, filtered.height() / 2);
}

TEST(MedianOracle, TakesTheValidNeighboursAndTheLowerMiddle) {
  EXPECT_EQ(median_of_centre({{1, 2, 3}, {4, 99, 6}, {7, 8, 9}}), 6);
  EXPECT_EQ(median_of_centre({{1, 2, 3}, {4, 99, nan}, {7, 8, 9}}), 4);        // 1 2 3 4 | 7 8 9 99
  EXPECT_EQ(median_of_centre({{nan, 2, 3}, {nan, 99, nan}, {7, 8, nan}}), 7);  // 2 3 7 8 99
  EXPECT_EQ(median_of_centre({{nan, nan, nan}, {nan, 5, nan}, {nan, nan, nan}}), 5);
  EXPECT_TRUE(std::isnan(median_of_centre({{1, 2, 3}, {4, nan, 6}, {7, 8, 9}})));
}

TEST(MedianOracle, AnOutlierGoesAndAnEdgeStays) {
  Image<float> image({12, 9}, 1, 10);
  for (int y = 0; y < 9; ++y)
    for (int x = 6; x < 12; ++x) image(x, y) = 30;
  const Image<float> clean = image;
  image(3, 4) = 55;
  Image<float> filtered(image.size());
  median::oracle({3}, image, filtered);
  EXPECT_TRUE(same_bits(filtered.view(), clean));
}

TEST(MedianOracle, BordersReplicate) {
  const Map map = map_of({{9, 1}, {1, 1}});
  Image<float> filtered(map.disparity.size());
  median::oracle({3}, map.disparity, filtered);
  EXPECT_EQ(filtered(0, 0), 1);  // 9 occurs four times among the nine values
}

TEST(MedianParameters, TheWindowHasAnEffect) {
  const auto image = random_map({40, 20}, 2, 0, 50, 10).disparity;
  Image<float> small(image.size()), large(image.size());
  median::oracle({3}, image, small);
  median::oracle({5}, image, large);
  EXPECT_FALSE(same_bits(small.view(), large));
  EXPECT_EQ(median::required_input({5}, {10, 10, 2, 2}), (Rect{8, 8, 6, 6}));
}

TEST(MedianParameters, OtherWindowsAndInPlaceAreRefused) {
  for (const int window : {1, 4, 7}) EXPECT_THROW(check_ranges("median", median::Parameters{window}), Error);
  EXPECT_NO_THROW(check_ranges("median", median::Parameters{5}));
  Image<float> image({3, 3}, 1, 1);
  Threads threads(1);
  EXPECT_THROW(median::oracle({3}, image, image), Error);
  EXPECT_THROW(median::cpu({3}, image, image, threads), Error);
}

}  // namespace
}  // namespace stereopsis::median_test
