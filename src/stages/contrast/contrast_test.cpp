#include "stages/contrast/contrast.hpp"

#include <cmath>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::contrast_test {
namespace {

using namespace test;

// Returns an image of flat patches of random sizes and values, with single pixels that differ.
template <class T>
Image<T> patches(Size size, int channels) {
  std::mt19937 generator(5);
  const auto below = [&](int n) { return static_cast<int>(generator() % static_cast<unsigned>(n)); };
  Image<T> image(size, channels);
  for (int y = 0; y < size.height; ++y) std::fill_n(image.row(y), size.width * channels, static_cast<T>(7));
  for (int i = 0; i < 12; ++i) {
    const int x0 = below(size.width), y0 = below(size.height), value = below(3);
    for (int y = y0; y < std::min(size.height, y0 + 1 + below(20)); ++y)
      for (int x = x0; x < std::min(size.width, x0 + 30); ++x) image(x, y, below(channels)) = static_cast<T>(value);
  }
  if constexpr (std::is_same_v<T, float>) {
    image(size.width / 2, size.height / 2) = std::nanf("");
    image(0, size.height - 1) = -0.0f;
  }
  return image;
}

Image<std::uint8_t> random_validity(Size size) {
  std::mt19937 generator(6);
  Image<std::uint8_t> validity(size);
  constexpr std::uint8_t values[] = {0, 0, 0, validity::masked, validity::filled, validity::repaired};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) validity(x, y) = values[generator() % std::size(values)];
  return validity;
}

template <class T>
class Contrast : public testing::Test {
 protected:
  // Calls f(parameters, image, validity, expected) for maps of images, of reduced images and of some of their rows.
  template <class F>
  static void for_each_case(F&& f) {
    for (const Size size : {Size{1, 1}, Size{1, 9}, Size{8, 1}, Size{7, 7}, Size{67, 43}, Size{530, 40}})
      for (const int channels : {1, 3})
        for (const auto& p : {contrast::Parameters{}, contrast::Parameters{.factor = 2},
                              contrast::Parameters{.factor = 5}, contrast::Parameters{.first_row = 3}}) {
          if (p.first_row >= size.height) continue;
          SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << channels
                                          << " channels, factor " << p.factor << ", row " << p.first_row);
          PitchedImage<T> image(patches<T>(size, channels).view());
          const int f_ = p.factor;
          const Size map{(size.width + f_ - 1) / f_, (size.height - p.first_row + f_ - 1) / f_};
          const Image<std::uint8_t> given = random_validity(map);
          PitchedImage<std::uint8_t> expected(given.view());
          contrast::oracle<T>(p, image, expected);
          f(p, image, given, expected);
        }
  }
};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Contrast, PixelTypes);

TYPED_TEST(Contrast, CpuEqualsOracle) {
  using T = TypeParam;
  this->for_each_case([&](const auto& p, auto& image, const auto& given, auto& expected) {
    for_each_thread_count([&](Threads& threads) {
      PitchedImage<std::uint8_t> got(given.view());
      contrast::cpu<T>(p, image, got, threads);
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
      EXPECT_TRUE(got.guard_intact());
    });
  });
}

TYPED_TEST(Contrast, GpuEqualsOracle) {
  using T = TypeParam;
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    this->for_each_case([&](const auto& p, auto& image, const auto& given, auto& expected) {
      const OnDevice<T> image_there(device, queue, image);
      PitchedImage<std::uint8_t> got(given.view());
      OnDevice<std::uint8_t> got_there(device, queue, got);
      contrast::gpu<T>(p, image_there, got_there, queue);
      got_there.download();
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
      EXPECT_TRUE(got.guard_intact());
    });
  });
}

// A single pixel of another value is in the windows of all pixels within 3 pixels of it.
TEST(ContrastOracle, MarksMeasuredPixelsWhoseWindowHasOneValue) {
  Image<std::uint8_t> image(15, 9), validity(15, 9);
  for (int y = 0; y < 9; ++y) std::fill_n(image.row(y), 15, std::uint8_t{255}), std::fill_n(validity.row(y), 15, 0);
  image(4, 0) = 254;
  validity(12, 8) = validity::left_right;
  contrast::oracle<std::uint8_t>({}, image, validity);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 15; ++x) {
      const bool near = std::abs(x - 4) <= 3 && y <= 3;
      const int expected = x == 12 && y == 8 ? validity::left_right : near ? 0 : validity::filled;
      EXPECT_EQ(validity(x, y), expected) << x << "," << y;
    }
}

TEST(ContrastOracle, ComparesAllChannels) {
  Image<std::uint8_t> image(7, 7, 3), validity(7, 7);
  for (int y = 0; y < 7; ++y) std::fill_n(image.row(y), 21, std::uint8_t{9}), std::fill_n(validity.row(y), 7, 0);
  image(6, 6, 2) = 10;
  contrast::oracle<std::uint8_t>({}, image, validity);
  EXPECT_EQ(validity(3, 3), 0);
  EXPECT_EQ(validity(2, 3), validity::filled);
}

}  // namespace
}  // namespace stereopsis::contrast_test
