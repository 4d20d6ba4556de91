#include "stages/colour_difference/colour_difference.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::colour_difference_test {
namespace {

using namespace test;

TEST(ColourDifference, CpuEqualsOracle) {
  for (const int truncation : {40, 255})
    for_each_volume([&](Size size, DisparityRange range) {
      PitchedImage<std::uint32_t> left(random_words(size, 1).view()), right(random_words(size, 2).view());
      Volume<std::uint8_t> expected(size, range.count);
      colour_difference::oracle({truncation}, left, right, range.min, expected);
      for_each_engine([&](Threads& threads) {
        Scratch scratch(colour_difference::scratch_bytes(size.width, range.count, threads.count()));
        auto got = poisoned_volume<std::uint8_t>(size, range.count);
        colour_difference::cpu({truncation}, left, right, range.min, got, scratch.span(), threads);
        EXPECT_TRUE(same_cells(got, expected));
      });
    });
}

TEST(ColourDifference, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    std::vector<Size> sizes = awkward_sizes;
    sizes.push_back({2, 70000});  // more rows than CUDA supports blocks in y
    for (const Size size : sizes)
      for (const int disparities : {1, 7, 32})
        for (const int min_disparity : {-5, 0, 3}) {
          SCOPED_TRACE(testing::Message()
                       << size.width << "x" << size.height << "x" << disparities << " from " << min_disparity);
          PitchedImage<std::uint32_t> left(random_words(size, 1).view()), right(random_words(size, 2).view());
          const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right);
          Volume<std::uint8_t> expected(size, disparities);
          colour_difference::oracle({200}, left, right, min_disparity, expected);
          VolumeOnDevice<std::uint8_t> got(device, queue, size, disparities);
          colour_difference::gpu({200}, left_there, right_there, min_disparity, got.volume(), queue);
          EXPECT_TRUE(same_cells<std::uint8_t>(got.download(), expected));
        }
  });
}

TEST(ColourDifferenceOracle, SumsTruncatesAndClampsColumns) {
  Image<std::uint32_t> left(3, 1), right(3, 1);
  left(0, 0) = 0x0A0B0C;
  left(1, 0) = 0x000000;
  left(2, 0) = 0xFF0005;
  right(0, 0) = 0x0A0A0E;
  right(1, 0) = 0x010203;
  right(2, 0) = 0x00FF00;
  Volume<std::uint8_t> costs({3, 1}, 3);
  colour_difference::oracle({40}, left, right, 0, costs);
  EXPECT_EQ(costs(0, 0, 0), 3);
  EXPECT_EQ(costs(0, 0, 2), 3);  // the candidate is outside the image, so the nearest pixel counts
  EXPECT_EQ(costs(1, 0, 0), 6);
  EXPECT_EQ(costs(1, 0, 1), 34);
  EXPECT_EQ(costs(2, 0, 0), 40);
}

TEST(ColourDifferenceParameters, TruncationsThatDoNotFitAreRefused) {
  EXPECT_THROW(check_ranges("colour_difference", colour_difference::Parameters{256}), Error);
  EXPECT_THROW(check_ranges("colour_difference", colour_difference::Parameters{0}), Error);
}

}  // namespace
}  // namespace stereopsis::colour_difference_test
