#include "stages/remap/remap.hpp"

#include <cmath>
#include <limits>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::remap_test {
namespace {

using namespace test;

const ImageView<const std::uint8_t> no_mask;

// Returns positions in and around an image of size `source`, including integers, borders and extreme values.
Image<std::int32_t> random_map(Size size, Size source, unsigned seed) {
  std::mt19937 generator(seed);
  const auto below = [&](int n) { return static_cast<int>(generator() % static_cast<unsigned>(n)); };
  Image<std::int32_t> map(size, 2);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int kind = below(16);
      for (const int c : {0, 1}) {
        const int side = c == 0 ? source.width : source.height;
        int position = below(256 * side + 512) - 256;
        if (kind < 4) position = position / 256 * 256;
        if (kind == 4) position = 256 * (side - 1);
        if (kind == 5)
          position = c == 0 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
        map(x, y, c) = position;
      }
    }
  return map;
}

template <class T>
class Remap : public testing::Test {
 protected:
  struct Case {
    PitchedImage<T> image;
    PitchedImage<std::uint8_t> mask;
    PitchedImage<std::int32_t> map;
    Size size;
    int channels;
  };

  // Calls f(case, whether its mask is used) for each case.
  template <class F>
  static void for_each_case(F&& f) {
    for (const Size source : {Size{1, 1}, Size{1, 9}, Size{5, 7}, Size{67, 13}})
      for (const Size size : awkward_sizes)
        for (const int channels : {1, 3}) {
          Image<T> image = random_image<T>(source, 3, 0, sizeof(T) == 2 ? 65535 : 255, channels);
          if constexpr (std::is_same_v<T, float>) {
            image.row(source.height / 2)[0] = std::nanf("");
            image.row(source.height - 1)[source.width * channels - 1] = std::numeric_limits<float>::infinity();
          }
          Image<std::uint8_t> mask = random_image<std::uint8_t>(source, 4, 0, 7);
          Case c{PitchedImage<T>(image.view()), PitchedImage<std::uint8_t>(mask.view()),
                 PitchedImage<std::int32_t>(random_map(size, source, 5).view()), size, channels};
          for (const bool masked : {false, true}) {
            SCOPED_TRACE(testing::Message()
                         << source.width << "x" << source.height << " to " << size.width << "x" << size.height << ", "
                         << channels << (masked ? " channels, mask" : " channels"));
            f(c, masked);
          }
        }
  }
};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Remap, PixelTypes);

template <class T>
remap::InputOf<T, ImageView> input(auto& c, bool masked) {
  return {c.image, masked ? ImageView<const std::uint8_t>(c.mask) : no_mask, c.map};
}

TYPED_TEST(Remap, CpuEqualsOracle) {
  using T = TypeParam;
  this->for_each_case([&](auto& c, bool masked) {
    Image<T> expected(c.size, c.channels);
    Image<std::uint8_t> expected_usable(c.size);
    remap::oracle<T>(input<T>(c, masked), {expected, expected_usable});
    for_each_thread_count([&](Threads& threads) {
      PitchedImage<T> got(c.size, c.channels);
      PitchedImage<std::uint8_t> usable(c.size);
      for (int run = 0; run < 2; ++run) {
        remap::cpu<T>(input<T>(c, masked), {got, usable}, threads);
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(same_bits(usable.view(), expected_usable.view()));
        EXPECT_TRUE(got.guard_intact() && usable.guard_intact());
      }
    });
  });
}

TYPED_TEST(Remap, GpuEqualsOracle) {
  using T = TypeParam;
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    this->for_each_case([&](auto& c, bool masked) {
      Image<T> expected(c.size, c.channels);
      Image<std::uint8_t> expected_usable(c.size);
      remap::oracle<T>(input<T>(c, masked), {expected, expected_usable});
      PitchedImage<T> got(c.size, c.channels);
      PitchedImage<std::uint8_t> usable(c.size);
      const OnDevice<T> image(device, queue, c.image);
      const OnDevice<std::uint8_t> mask(device, queue, c.mask);
      const OnDevice<std::int32_t> map(device, queue, c.map);
      OnDevice<T> got_there(device, queue, got);
      OnDevice<std::uint8_t> usable_there(device, queue, usable);
      for (int run = 0; run < 2; ++run) {
        remap::gpu<T>({image, masked ? mask : gpu::View<const std::uint8_t>(), map}, {got_there, usable_there}, queue);
        got_there.download();
        usable_there.download();
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(same_bits(usable.view(), expected_usable.view()));
        EXPECT_TRUE(got.guard_intact() && usable.guard_intact());
      }
    });
  });
}

Image<std::int32_t> map_of(std::initializer_list<std::pair<double, double>> positions) {
  Image<std::int32_t> map(static_cast<int>(positions.size()), 1, 2);
  int x = 0;
  for (const auto& [px, py] : positions) {
    map(x, 0, 0) = static_cast<std::int32_t>(std::lround(256 * px));
    map(x++, 0, 1) = static_cast<std::int32_t>(std::lround(256 * py));
  }
  return map;
}

TEST(RemapOracle, InterpolatesBetweenFourNeighbours) {
  const std::uint8_t pixels[] = {0, 100, 40, 200};
  const auto map = map_of({{0, 0}, {1, 1}, {0.25, 0}, {0, 0.5}, {0.5, 0.5}});
  Image<std::uint8_t> out(5, 1), usable(5, 1);
  remap::oracle<std::uint8_t>({{pixels, 2, 2}, no_mask, map}, {out, usable});
  const int expected[] = {0, 200, 25, 20, 85};
  for (int x = 0; x < 5; ++x) {
    EXPECT_EQ(out(x, 0), expected[x]) << x;
    EXPECT_EQ(usable(x, 0), 255);
  }
}

TEST(RemapOracle, PixelsWithoutSourceAreZeroAndNotUsable) {
  const std::uint8_t pixels[] = {50, 60, 70, 80}, mask[] = {1, 1, 0, 1};
  const auto map = map_of({{-1.0 / 256, 0}, {3, 0}, {3 + 1.0 / 256, 0}, {1, 0}, {1.5, 0}, {2, 0}, {0, 0.5}, {0, -1}});
  Image<std::uint8_t> out(8, 1), usable(8, 1);
  remap::oracle<std::uint8_t>({{pixels, 4, 1}, {mask, 4, 1}, map}, {out, usable});
  const int expected[] = {0, 80, 0, 60, 0, 0, 0, 0};
  for (int x = 0; x < 8; ++x) {
    EXPECT_EQ(out(x, 0), expected[x]) << x;
    EXPECT_EQ(usable(x, 0), expected[x] > 0 ? 255 : 0) << x;
  }
}

TEST(RemapOracle, WhiteStaysWhiteAtEveryPosition) {
  const Image<std::uint16_t> white({2, 2}, 1, 65535);
  Image<std::int32_t> map(256, 256, 2);
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x) map(x, y, 0) = x, map(x, y, 1) = y;
  Image<std::uint16_t> out(256, 256);
  Image<std::uint8_t> usable(256, 256);
  remap::oracle<std::uint16_t>({white, no_mask, map}, {out, usable});
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x) ASSERT_EQ(out(x, y), 65535);
}

TEST(RemapOracle, WhatIsNotFiniteIsNotUsableNorAreItsNeighbours) {
  const float pixels[] = {1, std::nanf(""), 3};
  const auto map = map_of({{0, 0}, {0.5, 0}, {1, 0}, {1.5, 0}, {2, 0}});
  Image<float> out(5, 1);
  Image<std::uint8_t> usable(5, 1);
  remap::oracle<float>({{pixels, 3, 1}, no_mask, map}, {out, usable});
  const float expected[] = {1, 0, 0, 0, 3};
  for (int x = 0; x < 5; ++x) {
    EXPECT_EQ(out(x, 0), expected[x]);
    EXPECT_EQ(usable(x, 0), expected[x] > 0 ? 255 : 0);
  }
}

TEST(RemapRefusals, ChannelsAndSizes) {
  const Image<std::uint8_t> two({2, 2}, 2, 0), one({2, 2}, 1, 0);
  const Image<std::int32_t> map({2, 2}, 2, 0), other({3, 2}, 2, 0), flat({2, 2}, 1, 0);
  Image<std::uint8_t> out(2, 2), usable(2, 2);
  EXPECT_THROW(remap::oracle<std::uint8_t>({two, no_mask, map}, {out, usable}), Error);
  EXPECT_THROW(remap::oracle<std::uint8_t>({one, no_mask, other}, {out, usable}), Error);
  EXPECT_THROW(remap::oracle<std::uint8_t>({one, no_mask, flat}, {out, usable}), Error);
}

}  // namespace
}  // namespace stereopsis::remap_test
