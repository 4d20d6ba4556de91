#include "stages/downsample/downsample.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/threads.hpp"

namespace stereopsis::downsample_test {
namespace {

using namespace test;

template <class T>
class Downsample : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Downsample, PixelTypes);

// Splits the channels of a view, because the helper for outputs represents them as wider pixels.
template <class T>
ImageView<T> with_channels(ImageView<T> wide, int channels) {
  return {wide.data, wide.width / channels, wide.height, channels, wide.pitch};
}
template <class T>
gpu::View<T> with_channels(gpu::View<T> wide, int channels) {
  return {wide.memory, wide.offset, wide.width / channels, wide.height, channels, wide.pitch};
}

template <class T, class F>
void for_each_case(F&& f) {
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3, 4})
      for (const int factor : {1, 2, 3, 7}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << channels << " channels, factor "
                                        << factor);
        PitchedImage<T> image(random_image<T>(size, 4, 0, 255, channels).view());
        const Size small = downsample::downsampled(size, factor);
        f(image, channels, factor, Size{small.width * channels, small.height});
      }
}

TYPED_TEST(Downsample, CpuEqualsOracle) {
  using T = TypeParam;
  for_each_case<T>([](auto& image, int channels, int factor, Size wide) {
    for_each_thread_count([&](Threads& threads) {
      expect_equals_oracle<T>(
          wide, [&](auto out) { downsample::oracle<T>(factor, image, with_channels(out, channels)); },
          [&](auto out) { downsample::cpu<T>(factor, image, with_channels(out, channels), threads); });
    });
  });
}

TYPED_TEST(Downsample, GpuEqualsOracle) {
  using T = TypeParam;
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for_each_case<T>([&](auto& image, int channels, int factor, Size wide) {
      const OnDevice<T> there(device, queue, image);
      expect_gpu_equals_oracle<T>(
          device, queue, wide, [&](auto out) { downsample::oracle<T>(factor, image, with_channels(out, channels)); },
          [&](auto out) { downsample::gpu<T>(factor, there, with_channels(out, channels), queue); });
    });
  });
}

TEST(DownsampleOracle, AveragesAndReplicates) {
  Image<std::uint8_t> image(Size{3, 1});
  image(0, 0) = 1;
  image(1, 0) = 2;
  image(2, 0) = 9;
  Image<std::uint8_t> half(downsample::downsampled(image.size(), 2));
  ASSERT_EQ(half.size(), (Size{2, 1}));
  downsample::oracle<std::uint8_t>(2, image, half);
  EXPECT_EQ(half(0, 0), 2);  // 1.5, rounded up
  EXPECT_EQ(half(1, 0), 9);
  EXPECT_EQ(downsample::required_input(2, {3, 4, 5, 6}), (Rect{6, 8, 10, 12}));
}

}  // namespace
}  // namespace stereopsis::downsample_test
