#include "stages/reduce/reduce.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::reduce_test {
namespace {

using namespace test;
using reduce::Sampling;

constexpr reduce::Parameters parameters[] = {{1}, {2}, {3}, {4}, {16}, {3, Sampling::every_nth}};

template <class T>
class Reduce : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Reduce, PixelTypes);

template <class T>
Image<T> noise(Size size) {
  Image<T> image = random_image<T>(size, 3, 0, sizeof(T) == 1 ? 255 : 65535);
  if constexpr (std::is_same_v<T, float>)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) image(x, y) *= 0.01f;
  return image;
}

TYPED_TEST(Reduce, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const auto& p : parameters) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " by " << p.factor);
      PitchedImage<TypeParam> grey(noise<TypeParam>(size).view());
      PitchedImage<std::uint8_t> mask(random_image<std::uint8_t>(size, 4, 0, 20).view());
      const Size reduced = reduce::reduced_size(p, size);
      for_each_engine([&](Threads& threads) {
        expect_equals_oracle<TypeParam>(
            reduced, [&](auto out) { reduce::oracle<TypeParam>(p, grey, {}, out, {}); },
            [&](auto out) { reduce::cpu<TypeParam>(p, grey, {}, out, {}, threads); });
        Image<TypeParam> pixels(reduced);
        expect_equals_oracle<std::uint8_t>(
            reduced, [&](auto out) { reduce::oracle<TypeParam>(p, grey, mask, pixels, out); },
            [&](auto out) { reduce::cpu<TypeParam>(p, grey, mask, pixels, out, threads); });
        expect_equals_oracle<std::uint8_t>(  // an empty mask means that all pixels are usable
            reduced, [&](auto out) { reduce::oracle<TypeParam>(p, grey, {}, pixels, out); },
            [&](auto out) { reduce::cpu<TypeParam>(p, grey, {}, pixels, out, threads); });
      });
    }
}

TYPED_TEST(Reduce, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const auto& p : parameters) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " by " << p.factor);
        PitchedImage<TypeParam> grey(noise<TypeParam>(size).view());
        PitchedImage<std::uint8_t> mask(random_image<std::uint8_t>(size, 4, 0, 20).view());
        const OnDevice<TypeParam> grey_there(device, queue, grey);
        const OnDevice<std::uint8_t> mask_there(device, queue, mask);
        const Size reduced = reduce::reduced_size(p, size);
        expect_gpu_equals_oracle<TypeParam>(
            device, queue, reduced, [&](auto out) { reduce::oracle<TypeParam>(p, grey, {}, out, {}); },
            [&](auto out) { reduce::gpu<TypeParam>(p, grey_there, {}, out, {}, queue); });
        Image<TypeParam> pixels(reduced);
        PitchedImage<TypeParam> scratch(reduced);
        const OnDevice<TypeParam> pixels_there(device, queue, scratch);
        expect_gpu_equals_oracle<std::uint8_t>(
            device, queue, reduced, [&](auto out) { reduce::oracle<TypeParam>(p, grey, mask, pixels, out); },
            [&](auto out) { reduce::gpu<TypeParam>(p, grey_there, mask_there, pixels_there, out, queue); });
        expect_gpu_equals_oracle<std::uint8_t>(  // an empty mask means that all pixels are usable
            device, queue, reduced, [&](auto out) { reduce::oracle<TypeParam>(p, grey, {}, pixels, out); },
            [&](auto out) { reduce::gpu<TypeParam>(p, grey_there, {}, pixels_there, out, queue); });
      }
  });
}

TEST(ReduceOracle, AveragesBlocksAndWhatIsLeftOfThem) {
  Image<std::uint8_t> grey({3, 2}, 1, 0);
  grey(0, 0) = 10, grey(1, 0) = 20, grey(0, 1) = 30, grey(1, 1) = 42, grey(2, 0) = 7, grey(2, 1) = 8;
  Image<std::uint8_t> reduced({2, 1}, 1, 0);
  reduce::oracle<std::uint8_t>({2}, grey, {}, reduced, {});
  EXPECT_EQ(reduced(0, 0), 26);  // 25.5
  EXPECT_EQ(reduced(1, 0), 8);   // 7.5
  reduce::oracle<std::uint8_t>({2, Sampling::every_nth}, grey, {}, reduced, {});
  EXPECT_EQ(reduced(0, 0), 10);
  EXPECT_EQ(reduced(1, 0), 7);
}

TEST(Reduce, TheRangeIsThatOfTheMultiples) {
  EXPECT_EQ(reduce::reduced_range({4}, {0, 260}), (DisparityRange{0, 65}));
  EXPECT_EQ(reduce::reduced_range({4}, {-5, 10}), (DisparityRange{-1, 3}));  // −4, 0, 4
  EXPECT_EQ(reduce::reduced_range({4}, {1, 4}), (DisparityRange{1, 1}));
  EXPECT_EQ(reduce::reduced_range({1}, {-3, 7}), (DisparityRange{-3, 7}));
  EXPECT_THROW(reduce::reduced_range({4}, {1, 3}), Error);
}

TEST(Reduce, ScalingLeavesInvalidPixels) {
  Image<float> disparity({2, 1}, 1, 1.5f);
  disparity(1, 0) = invalid_disparity;
  reduce::scale_oracle({4}, disparity);
  EXPECT_EQ(disparity(0, 0), 6);
  EXPECT_TRUE(std::isnan(disparity(1, 0)));
}

}  // namespace
}  // namespace stereopsis::reduce_test
