#include "stages/rgb/rgb.hpp"

#include <limits>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/threads.hpp"

namespace stereopsis::rgb_test {
namespace {

using namespace test;

// Returns intensities over the whole range of the type, including values beyond the bit depth. Some floats are not
// finite.
template <class T>
Image<T> intensities(Size size, int channels) {
  constexpr bool is_float = std::is_same_v<T, float>;
  auto image = random_image<T>(size, 11, 0, is_float ? 255000 : std::numeric_limits<T>::max(), channels);
  if constexpr (is_float)
    for (int y = 0; y < size.height; ++y)
      for (int i = 0; i < size.width * channels; ++i) {
        float& value = image.row(y)[i];
        value = value < 4000 ? std::nanf("") : value < 8000 ? -INFINITY : value / 980 - 3;
      }
  return image;
}

template <class T>
class Rgb : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Rgb, PixelTypes);

// Calls f(image, bit depth, mask) for each kind of input.
template <class T, class F>
void for_each_input(F&& f) {
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3})
      for (const bool masked : {false, true}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", channels " << channels);
        PitchedImage<T> image(intensities<T>(size, channels).view());
        PitchedImage<std::uint8_t> mask(random_image<std::uint8_t>(size, 3, 0, 2).view());
        for (const int bit_depth : {8, sizeof(T) == 2 ? 16 : 8, sizeof(T) == 2 ? 12 : 8})
          f(size, image, bit_depth, mask, masked);
      }
}

TYPED_TEST(Rgb, CpuEqualsOracle) {
  for_each_input<TypeParam>([](Size size, auto& image, int bit_depth, auto& mask_image, bool masked) {
    const auto mask = masked ? ImageView<const std::uint8_t>(mask_image) : ImageView<const std::uint8_t>();
    for_each_thread_count([&](Threads& threads) {
      Image<std::uint32_t> words(size);
      expect_equals_oracle<std::uint32_t>(
          size, [&](auto out) { rgb::oracle<TypeParam>(image, bit_depth, mask, out, {}); },
          [&](auto out) { rgb::cpu<TypeParam>(image, bit_depth, mask, out, {}, threads); });
      expect_equals_oracle<std::uint8_t>(
          size, [&](auto out) { rgb::oracle<TypeParam>(image, bit_depth, mask, words, out); },
          [&](auto out) { rgb::cpu<TypeParam>(image, bit_depth, mask, words, out, threads); });
    });
  });
}

TYPED_TEST(Rgb, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for_each_input<TypeParam>([&](Size size, auto& image, int bit_depth, auto& mask_image, bool masked) {
      const auto mask = masked ? ImageView<const std::uint8_t>(mask_image) : ImageView<const std::uint8_t>();
      const OnDevice<TypeParam> there(device, queue, image);
      const OnDevice<std::uint8_t> mask_on_device(device, queue, mask_image);
      const auto mask_there = masked ? gpu::View<const std::uint8_t>(mask_on_device) : gpu::View<const std::uint8_t>();
      expect_gpu_equals_oracle<std::uint32_t>(
          device, queue, size, [&](auto out) { rgb::oracle<TypeParam>(image, bit_depth, mask, out, {}); },
          [&](auto out) { rgb::gpu<TypeParam>(there, bit_depth, mask_there, out, {}, queue); });
      Image<std::uint32_t> words(size);
      PitchedImage<std::uint32_t> room(size);
      const OnDevice<std::uint32_t> words_there(device, queue, room);
      expect_gpu_equals_oracle<std::uint8_t>(
          device, queue, size, [&](auto out) { rgb::oracle<TypeParam>(image, bit_depth, mask, words, out); },
          [&](auto out) { rgb::gpu<TypeParam>(there, bit_depth, mask_there, words_there.view(), out, queue); });
    });
  });
}

TEST(RgbOracle, ScalesRoundsAndKeepsTheChannelsApart) {
  Image<std::uint16_t> deep(2, 1, 3);
  const std::uint16_t values[] = {4095, 0, 2048, 16, 5000, 8};
  std::copy_n(values, 6, deep.row(0));
  Image<std::uint32_t> words(2, 1);
  rgb::oracle<std::uint16_t>(deep, 12, {}, words, {});
  EXPECT_EQ(words(0, 0), rgb::word_of(255, 0, 128));
  EXPECT_EQ(words(1, 0), rgb::word_of(1, 255, 0));

  Image<float> grey(Size{1, 1}, 1, 99.5f);
  Image<std::uint32_t> word(1, 1);
  rgb::oracle<float>(grey, 8, {}, word, {});
  EXPECT_EQ(word(0, 0), rgb::word_of(100, 100, 100));
}

}  // namespace
}  // namespace stereopsis::rgb_test
