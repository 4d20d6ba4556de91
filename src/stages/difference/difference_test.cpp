#include "stages/difference/difference.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::difference_test {
namespace {

using namespace test;
using difference::Space;

template <class T>
void expect_words_equal_oracle(Space space, int high) {
  for (const Size size : awkward_sizes) {
    PitchedImage<T> image(random_image<T>(size, 3, 0, high).view());
    Image<std::uint32_t> expected(size);
    difference::oracle<T>(space, image, expected);
    for_each_engine([&](Threads& threads) {
      PitchedImage<std::uint32_t> got(size);
      difference::cpu<T>(space, image, got, threads);
      EXPECT_TRUE(same_bits(got.view(), expected));
      EXPECT_TRUE(got.guard_intact());
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      PitchedImage<std::uint32_t> got(size);
      const OnDevice<T> image_there(device, queue, image);
      OnDevice<std::uint32_t> there(device, queue, got);
      difference::gpu<T>(space, image_there, there, queue);
      there.download();
      EXPECT_TRUE(same_bits(got.view(), expected));
      EXPECT_TRUE(got.guard_intact());
    });
  }
}

TEST(Difference, WordsEqualTheOracle) {
  expect_words_equal_oracle<std::uint8_t>(Space::grey, 255);
  expect_words_equal_oracle<std::uint32_t>(Space::rgb, 0xFFFFFF);
  expect_words_equal_oracle<std::uint32_t>(Space::hsv, 0x7FFFFFFF);
  expect_words_equal_oracle<std::uint32_t>(Space::lab, 0x3FFFFFFF);
  skip_without_gpu();
}

TEST(DifferenceOracle, TakesLabInWholeUnits) {
  Image<std::uint32_t> lab(2, 1), words(2, 1);
  lab(0, 0) = 402 | 512 << 10 | 1 << 20;
  lab(1, 0) = 1023 | 3 << 10 | 2 << 20;
  difference::oracle<std::uint32_t>(Space::lab, lab, words);
  EXPECT_EQ(words(0, 0), 101u | 128 << 8 | 0 << 16);
  EXPECT_EQ(words(1, 0), 255u | 1 << 8 | 1 << 16);
}

TEST(DifferenceKinds, SumTruncateAndScale) {
  const cost::AbsoluteDifference absolute{40};
  EXPECT_EQ(absolute(0x010203, 0x030201), 4);
  EXPECT_EQ(absolute(0x0000FF, 0x000000), 40);
  EXPECT_EQ(cost::AbsoluteDifference{255}(0xFFFFFFFF, 0), 255);
  const cost::SquaredDifference squared{10};
  EXPECT_EQ(squared(0x010203, 0x030201), 20);  // 255 · 8 / 100 = 20.4
  EXPECT_EQ(squared(0x00000A, 0x000000), 255);
  EXPECT_EQ(squared(0xFFFFFF, 0x000000), 255);
  EXPECT_EQ(cost::SquaredDifference{255}(0xFF, 0), 255);
  EXPECT_EQ(cost::SquaredDifference{1}(1, 0), 255);
}

TEST(DifferenceParameters, TruncationsThatDoNotFitAreRefused) {
  EXPECT_THROW(check_ranges("cost", difference::Absolute{.truncation = 256}), Error);
  EXPECT_THROW(check_ranges("cost", difference::Squared{.truncation = 0}), Error);
}

}  // namespace
}  // namespace stereopsis::difference_test
