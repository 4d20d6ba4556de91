#include "stages/hsv/hsv.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::hsv_test {
namespace {

using namespace test;
using cost::Space;

const hsv::Weighting weightings[] = {
    cost::weighting(Space::hsv, {0.2, 0.3, 0.5}), cost::weighting(Space::hsv, {1, 1, 1}),
    cost::weighting(Space::rgb, {0.2, 0.3, 0.5}), cost::weighting(Space::hsv, {1, 0, 0})};

template <class T>
int depth() {
  return std::is_same_v<T, std::uint16_t> ? 12 : 8;
}

template <class T>
Image<T> pixels(Size size, int channels) {
  Image<T> image = random_image<T>(size, 3, 0, (1 << depth<T>()) - 1, channels);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; x += 5)  // the colours include greys and black
      for (int i = 0; i < channels; ++i) image(x, y, i) = x % 2 == 0 ? T{0} : image(x, y, 0);
  if constexpr (std::is_same_v<T, float>) {
    image(0, 0, 0) = NAN;
    image(size.width - 1, size.height - 1, channels - 1) = INFINITY;
    image(size.width / 2, size.height / 2, 0) = -3.0f;
  }
  return image;
}

template <class T>
class Hsv : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Hsv, PixelTypes);

TYPED_TEST(Hsv, CpuEqualsOracle) {
  using T = TypeParam;
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3})
      for (const auto& w : weightings) {
        PitchedImage<T> image(pixels<T>(size, channels).view());
        PitchedImage<std::uint8_t> mask(random_image<std::uint8_t>(size, 5, 0, 2).view());
        for_each_engine([&](Threads& threads) {
          PitchedImage<std::uint8_t> usable(size), expected_usable(size);
          expect_equals_oracle<std::uint32_t>(
              size, [&](auto out) { hsv::oracle<T>(w, image, depth<T>(), mask, out, expected_usable); },
              [&](auto out) { hsv::cpu<T>(w, image, depth<T>(), mask, out, usable, threads); });
          EXPECT_TRUE(same_bits(usable.view(), expected_usable.view()));
          expect_equals_oracle<std::uint32_t>(
              size, [&](auto out) { hsv::oracle<T>(w, image, depth<T>(), {}, out, {}); },
              [&](auto out) { hsv::cpu<T>(w, image, depth<T>(), {}, out, {}, threads); });
        });
      }
}

TYPED_TEST(Hsv, GpuEqualsOracle) {
  using T = TypeParam;
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int channels : {1, 3})
        for (const auto& w : weightings) {
          PitchedImage<T> image(pixels<T>(size, channels).view());
          PitchedImage<std::uint8_t> mask(random_image<std::uint8_t>(size, 5, 0, 2).view());
          PitchedImage<std::uint8_t> usable(size), expected(size);
          const OnDevice<T> image_there(device, queue, image);
          const OnDevice<std::uint8_t> mask_there(device, queue, mask);
          OnDevice<std::uint8_t> usable_there(device, queue, usable);
          expect_gpu_equals_oracle<std::uint32_t>(
              device, queue, size, [&](auto out) { hsv::oracle<T>(w, image, depth<T>(), mask, out, expected); },
              [&](auto out) { hsv::gpu<T>(w, image_there, depth<T>(), mask_there, out, usable_there, queue); });
          usable_there.download();
          EXPECT_TRUE(same_bits(usable.view(), expected.view()));
          EXPECT_TRUE(usable.guard_intact());
        }
  });
}

// All 8-bit colours, in steps that cover all residues.
TEST(Hsv, CpuEqualsOracleOnAllColours) {
  Image<std::uint8_t> colours(Size{4096, 256}, 3);
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 4096; ++x) {
      colours(x, y, 0) = static_cast<std::uint8_t>(y);
      colours(x, y, 1) = static_cast<std::uint8_t>(4 * (x / 64) + y % 4);
      colours(x, y, 2) = static_cast<std::uint8_t>(4 * (x % 64) + y / 4 % 4);
    }
  Threads threads(1);
  for (const auto& w : weightings)
    expect_equals_oracle<std::uint32_t>(
        colours.size(), [&](auto out) { hsv::oracle<std::uint8_t>(w, colours, 8, {}, out, {}); },
        [&](auto out) { hsv::cpu<std::uint8_t>(w, colours, 8, {}, out, {}, threads); });
}

std::array<int, 4> bytes_of(const hsv::Weighting& w, int red, int green, int blue) {
  Image<std::uint8_t> image(Size{1, 1}, 3);
  image(0, 0, 0) = static_cast<std::uint8_t>(red);
  image(0, 0, 1) = static_cast<std::uint8_t>(green);
  image(0, 0, 2) = static_cast<std::uint8_t>(blue);
  Image<std::uint32_t> word(Size{1, 1});
  hsv::oracle<std::uint8_t>(w, image, 8, {}, word, {});
  const auto byte = [&](int i) { return static_cast<int>(word(0, 0) >> 8 * i & 255); };
  return {byte(0), byte(1), byte(2), byte(3)};
}

TEST(HsvOracle, KnownColours) {
  using Bytes = std::array<int, 4>;
  const auto w = cost::weighting(Space::hsv, {1, 1, 1});
  EXPECT_EQ(bytes_of(w, 255, 0, 0), (Bytes{64, 32, 255, 255}));    // red: hue 0
  EXPECT_EQ(bytes_of(w, 0, 255, 255), (Bytes{0, 32, 255, 255}));   // cyan: hue ½
  EXPECT_EQ(bytes_of(w, 128, 255, 0), (Bytes{32, 64, 255, 255}));  // the hue is ¼, except for rounding
  EXPECT_EQ(bytes_of(w, 128, 0, 255), (Bytes{32, 0, 255, 255}));   // hue ¾
  EXPECT_EQ(bytes_of(w, 100, 100, 100), (Bytes{64, 32, 0, 100}));  // the hue of grey is 0
  EXPECT_EQ(bytes_of(w, 0, 0, 0), (Bytes{64, 32, 0, 0}));
  EXPECT_EQ(bytes_of(w, 200, 150, 100), (Bytes{53, 43, 128, 200}));  // hue 1/12, saturation ½
  EXPECT_EQ(bytes_of(cost::weighting(Space::rgb, {1, 2, 4}), 100, 100, 100), (Bytes{25, 50, 100, 0}));
}

// Hue is circular: a slightly bluish red is as close to red as a slightly yellowish red.
TEST(HsvOracle, HueHasNoBeginning) {
  const auto w = cost::weighting(Space::hsv, {1, 0, 0});
  const auto red = bytes_of(w, 255, 0, 0), yellowish = bytes_of(w, 255, 30, 0), bluish = bytes_of(w, 255, 0, 30);
  const auto distance = [](auto a, auto b) { return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]); };
  EXPECT_EQ(distance(red, yellowish), distance(red, bluish));
  EXPECT_NEAR(distance(red, yellowish), 256 * 30.0 / 255 / 6, 1);
}

TEST(HsvOracle, NoTwoWordsDifferByMoreThanMaxCost) {
  const Image<std::uint8_t> image = random_image<std::uint8_t>({200, 200}, 8, 0, 3, 3);
  for (const auto& w : weightings) {
    Image<std::uint8_t> colours = image;
    for (int y = 0; y < 200; ++y)
      for (int i = 0; i < 600; ++i) colours.row(y)[i] = static_cast<std::uint8_t>(85 * image.row(y)[i]);
    Image<std::uint32_t> words(Size{200, 200});
    hsv::oracle<std::uint8_t>(w, colours, 8, {}, words, {});
    int largest = 0;
    for (int i = 0; i < 20000; ++i) {
      const std::uint32_t a = words(i % 200, i / 200), b = words(i * 7 % 200, 100 + i / 200);
      int sum = 0;
      for (int c = 0; c < 32; c += 8) sum += std::abs(static_cast<int>(a >> c & 255) - static_cast<int>(b >> c & 255));
      largest = std::max(largest, sum);
    }
    EXPECT_LE(largest, w.max_cost(3));
    EXPECT_GE(largest, w.max_cost(3) * 9 / 10);
  }
}

TEST(HsvParameters, WeightsAreChecked) {
  for (const std::vector<double>& bad : {std::vector<double>{1, 1}, {0, 0, 0}, {1, -0.5, 1}, {1, 1, 1, 1}})
    EXPECT_THROW(cost::weighting(Space::hsv, bad), Error);
  EXPECT_EQ(cost::weighting(Space::hsv, {0.2, 0.3, 0.5}).scales, (std::array{102, 154, 256}));
  EXPECT_EQ(cost::weighting(Space::hsv, {2, 3, 5}).scales, (std::array{102, 154, 256}));
}

}  // namespace
}  // namespace stereopsis::hsv_test
