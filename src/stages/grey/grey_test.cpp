#include "stages/grey/grey.hpp"

#include <cmath>
#include <limits>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::grey_test {
namespace {

using namespace test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
const ImageView<const std::uint8_t> no_mask;
const ImageView<std::uint8_t> not_wanted;

// Returns intensities over the whole range of the type; for float, some are not finite.
template <class T>
Image<T> intensities(Size size, int channels) {
  constexpr bool is_float = std::is_same_v<T, float>;
  auto image = random_image<T>(size, 11, 0, is_float ? 255000 : std::numeric_limits<T>::max(), channels);
  if constexpr (is_float)
    for (int y = 0; y < size.height; ++y)
      for (int i = 0; i < size.width * channels; ++i) {
        float& value = image.row(y)[i];
        value = value < 4000 ? nan : value < 8000 ? -infinity : value / 1000 - 1;
      }
  return image;
}

template <class T>
class Grey : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Grey, PixelTypes);

TYPED_TEST(Grey, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3})
      for (const bool with_mask : {false, true}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", channels " << channels);
        PitchedImage<TypeParam> image(intensities<TypeParam>(size, channels).view());
        const auto mask_image = random_image<std::uint8_t>(size, 3, 0, 2);
        const auto mask = with_mask ? mask_image.view() : no_mask;
        for_each_engine([&](Threads& threads) {
          Image<TypeParam> grey(size);
          expect_equals_oracle<TypeParam>(
              size, [&](auto out) { grey::oracle<TypeParam>(image, mask, out, not_wanted); },
              [&](auto out) { grey::cpu<TypeParam>(image, mask, out, not_wanted, threads); });
          expect_equals_oracle<std::uint8_t>(
              size, [&](auto out) { grey::oracle<TypeParam>(image, mask, grey, out); },
              [&](auto out) { grey::cpu<TypeParam>(image, mask, grey, out, threads); });
        });
      }
}

TYPED_TEST(Grey, CpuEqualsOracleIn8Bits) {
  const int deepest = std::is_same_v<TypeParam, float> ? 8 : 8 * sizeof(TypeParam);
  for (const Size size : awkward_sizes)
    for (int depth = deepest == 16 ? 1 : deepest; depth <= deepest; ++depth) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", depth " << depth);
      PitchedImage<TypeParam> image(intensities<TypeParam>(size, 1).view());
      for_each_engine([&](Threads& threads) {
        expect_equals_oracle<std::uint8_t>(
            size, [&](auto out) { grey::oracle8<TypeParam>(image, depth, out); },
            [&](auto out) { grey::cpu8<TypeParam>(image, depth, out, threads); });
      });
    }
}

TYPED_TEST(Grey, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int channels : {1, 3})
        for (const bool with_mask : {false, true}) {
          SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", channels " << channels);
          PitchedImage<TypeParam> image(intensities<TypeParam>(size, channels).view()), grey(size);
          PitchedImage<std::uint8_t> mask(random_image<std::uint8_t>(size, 3, 0, 2).view());
          const OnDevice<TypeParam> there(device, queue, image), grey_there(device, queue, grey);
          const OnDevice<std::uint8_t> mask_there(device, queue, mask);
          const auto mask_here = with_mask ? ImageView<const std::uint8_t>(mask) : no_mask;
          const auto mask_used =
              with_mask ? gpu::View<const std::uint8_t>(mask_there) : gpu::View<const std::uint8_t>();
          expect_gpu_equals_oracle<TypeParam>(
              device, queue, size, [&](auto out) { grey::oracle<TypeParam>(image, mask_here, out, not_wanted); },
              [&](auto out) { grey::gpu<TypeParam>(there, mask_used, out, {}, queue); });
          expect_gpu_equals_oracle<std::uint8_t>(
              device, queue, size, [&](auto out) { grey::oracle<TypeParam>(image, mask_here, grey, out); },
              [&](auto out) { grey::gpu<TypeParam>(there, mask_used, grey_there, out, queue); });
        }
  });
}

TYPED_TEST(Grey, GpuEqualsOracleIn8Bits) {
  const int deepest = std::is_same_v<TypeParam, float> ? 8 : 8 * sizeof(TypeParam);
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (int depth = deepest == 16 ? 1 : deepest; depth <= deepest; depth += 3) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", depth " << depth);
        PitchedImage<TypeParam> image(intensities<TypeParam>(size, 1).view());
        const OnDevice<TypeParam> there(device, queue, image);
        expect_gpu_equals_oracle<std::uint8_t>(
            device, queue, size, [&](auto out) { grey::oracle8<TypeParam>(image, depth, out); },
            [&](auto out) { grey::gpu8<TypeParam>(there, depth, out, queue); });
      }
  });
}

// The CPU divides in floats. All 16-bit values at all bit depths must be exact.
TEST(Grey8, EveryValueAtEveryDepthIsTheNearestOf256) {
  Image<std::uint16_t> values(256, 256);
  for (int v = 0; v < 65536; ++v) values(v % 256, v / 256) = static_cast<std::uint16_t>(v);
  Image<std::uint8_t> grey8(256, 256);
  for_each_engine([&](Threads& threads) {
    for (int depth = 1; depth <= 16; ++depth) {
      grey8.fill(77);
      grey::cpu8<std::uint16_t>(values, depth, grey8, threads);
      const int white = (1 << depth) - 1;
      for (int v = 0; v < 65536; ++v) {
        const double exact = std::min(v, white) * 255.0 / white;
        ASSERT_EQ(grey8(v % 256, v / 256), static_cast<int>(std::lround(exact))) << v << " of depth " << depth;
      }
    }
  });
}

TEST(Grey8, ShallowBytesAreScaledToo) {
  Image<std::uint8_t> bytes(4, 1), grey8(4, 1);
  for (int x = 0; x < 4; ++x) bytes(x, 0) = static_cast<std::uint8_t>(5 * x);
  Threads threads(1);
  grey::cpu8<std::uint8_t>(bytes, 4, grey8, threads);
  EXPECT_EQ(grey8(0, 0), 0);
  EXPECT_EQ(grey8(1, 0), 85);
  EXPECT_EQ(grey8(2, 0), 170);
  EXPECT_EQ(grey8(3, 0), 255);
}

TEST(Grey8, FloatsAreClampedAndTiesGoUp) {
  const float values[] = {-3.0f, 0.49f, 0.5f, 1.5f, 254.5f, 300.0f, nan, infinity, -infinity, 2.5f};
  const int expected[] = {0, 0, 1, 2, 255, 255, 0, 255, 0, 3};
  Image<std::uint8_t> grey8(10, 1);
  for_each_engine([&](Threads& threads) {
    grey::cpu8<float>(ImageView<const float>(values, 10, 1), 8, grey8, threads);
    for (int x = 0; x < 10; ++x) EXPECT_EQ(grey8(x, 0), expected[x]) << values[x];
  });
}

TEST(GreyOracle, WeighsColoursAsBt601) {
  Image<std::uint8_t> colours({5, 1}, 3, 0);
  colours(0, 0, 0) = colours(1, 0, 1) = colours(2, 0, 2) = 255;
  for (int c = 0; c < 3; ++c) colours(3, 0, c) = 255, colours(4, 0, c) = 17;
  Image<std::uint8_t> grey(5, 1), usable(5, 1);
  grey::oracle<std::uint8_t>(colours, no_mask, grey, usable);
  EXPECT_EQ(grey(0, 0), 76);   // 0.299 · 255 = 76.2
  EXPECT_EQ(grey(1, 0), 150);  // 0.587 · 255 = 149.7
  EXPECT_EQ(grey(2, 0), 29);   // 0.114 · 255 = 29.1
  EXPECT_EQ(grey(3, 0), 255);  // white remains white
  EXPECT_EQ(grey(4, 0), 17);   // grey remains grey
  EXPECT_EQ(usable(4, 0), 255);
}

TEST(GreyOracle, SixteenBitWhiteStaysWhite) {
  const Image<std::uint16_t> white({1, 1}, 3, 65535);
  Image<std::uint16_t> grey(1, 1);
  grey::oracle<std::uint16_t>(white, no_mask, grey, not_wanted);
  EXPECT_EQ(grey(0, 0), 65535);
}

TEST(GreyOracle, WhatIsNotFiniteIsZeroAndNotUsable) {
  const float pixels[] = {1, 2, 3, 1, nan, 3, infinity, 2, -infinity, 4, 4, 4};
  const std::uint8_t mask[] = {1, 1, 1, 0};
  Image<float> grey(4, 1);
  Image<std::uint8_t> usable(4, 1);
  grey::oracle<float>({pixels, 4, 1, 3, 12}, {mask, 4, 1}, grey, usable);
  EXPECT_FLOAT_EQ(grey(0, 0), 0.299f + 2 * 0.587f + 3 * 0.114f);
  EXPECT_EQ(usable(0, 0), 255);
  for (const int x : {1, 2}) {
    EXPECT_EQ(grey(x, 0), 0);
    EXPECT_EQ(usable(x, 0), 0);
  }
  EXPECT_FLOAT_EQ(grey(3, 0), 4);  // the pixel is masked and not usable, but its value is still a number
  EXPECT_EQ(usable(3, 0), 0);
}

TEST(GreyRefusals, ChannelsAndBitDepths) {
  Threads threads(1);
  const Image<std::uint8_t> two({2, 2}, 2, 0);
  Image<std::uint8_t> grey(2, 2);
  EXPECT_THROW(grey::oracle<std::uint8_t>(two, no_mask, grey, not_wanted), Error);
  EXPECT_THROW(grey::cpu<std::uint8_t>(two, no_mask, grey, not_wanted, threads), Error);
  const Image<std::uint16_t> deep({2, 2}, 1, 0);
  for (const int depth : {0, 17}) EXPECT_THROW(grey::cpu8<std::uint16_t>(deep, depth, grey, threads), Error);
  EXPECT_THROW(grey::cpu8<std::uint8_t>(grey, 9, grey, threads), Error);
  const Image<float> real({2, 2}, 1, 0);
  EXPECT_THROW(grey::cpu8<float>(real, 16, grey, threads), Error);
}

}  // namespace
}  // namespace stereopsis::grey_test
