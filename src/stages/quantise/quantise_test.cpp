#include "stages/quantise/quantise.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::quantise_test {
namespace {

using namespace test;

template <class T>
Volume<T> random_costs(Size size, int disparities, int seed) {
  std::mt19937 dice(seed);
  std::uniform_int_distribution<int> any(0, 65535);
  Volume<T> volume(size, disparities);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int d = 0; d < disparities; ++d) {
        const int n = any(dice);
        if constexpr (std::is_same_v<T, float>)
          volume(x, y, d) = n % 31 == 0   ? std::numeric_limits<float>::quiet_NaN()
                            : n % 37 == 0 ? INFINITY
                                          : static_cast<float>(n - 300) / 128;
        else
          volume(x, y, d) = static_cast<T>(n % 11 == 0 ? 65535 : n);
      }
  return volume;
}

ImageView<std::uint8_t> flat(VolumeView<std::uint8_t> v) {
  return {v.data, v.width * v.disparities, v.height, 1, v.row_pitch};
}

template <class T>
void expect_all_equal_oracle() {
  for (const Size size : awkward_sizes)
    for (const int disparities : {1, 7, 32})
      for (const float scale : {1.0f, 0.25f, 0.0039f, 3.3f}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", " << scale);
        const Volume<T> costs = random_costs<T>(size, disparities, 5);
        Volume<std::uint8_t> expected(size, disparities), got(size, disparities);
        quantise::oracle<T>(scale, costs, expected);
        for_each_engine([&](Threads& threads) {
          std::fill_n(got.view().data, static_cast<std::size_t>(size.width) * size.height * disparities, 0xA5);
          quantise::cpu<T>(scale, costs, got, threads);
          EXPECT_TRUE(same_bits(flat(got.view()), ImageView<const std::uint8_t>(flat(expected.view()))));
        });
        for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
          const ImageView<const T> cells{costs.view().data, size.width * disparities, size.height};
          const std::size_t count = static_cast<std::size_t>(cells.width) * cells.height;
          const gpu::Buffer in(device, sizeof(T) * count), out = poisoned(device, queue, count);
          queue.upload<T>(cells, gpu::View<T>{in.handle(), 0, cells.width, cells.height, 1, cells.width});
          quantise::gpu<T>(scale, {{in.handle(), 0}, size.width, size.height, disparities},
                           {{out.handle(), 0}, size.width, size.height, disparities}, queue);
          const auto bytes = flat(got.view());
          queue.download(gpu::View<std::uint8_t>{out.handle(), 0, bytes.width, bytes.height, 1, bytes.pitch}, bytes);
          queue.wait();
          EXPECT_TRUE(same_bits(bytes, ImageView<const std::uint8_t>(flat(expected.view()))));
        });
      }
}

TEST(Quantise, U8) { expect_all_equal_oracle<std::uint8_t>(); }
TEST(Quantise, U16) { expect_all_equal_oracle<std::uint16_t>(); }
TEST(Quantise, F32) { expect_all_equal_oracle<float>(); }

TEST(Quantise, TheScaleDependsOnWhatCostsThereMayBe) {
  EXPECT_EQ(quantise::scale_of({}, 90), 1);
  EXPECT_EQ(quantise::scale_of({}, 1020), 0.25);
  EXPECT_EQ(quantise::scale_of({}, 32640, 128), 1.0 / 128);
  EXPECT_EQ(quantise::scale_of({}, 1, 1, true), 255);
  EXPECT_EQ(quantise::scale_of({.scale = 2}, 1020), 2);
}

TEST(QuantiseOracle, RoundsHalvesUpAndSaturates) {
  Volume<float> costs({1, 1}, 6);
  const float values[] = {-3, 0.49f, 0.5f, 254.5f, 1e9f, std::numeric_limits<float>::quiet_NaN()};
  std::copy_n(values, 6, costs.view().data);
  Volume<std::uint8_t> got({1, 1}, 6);
  quantise::oracle<float>(1, costs, got);
  EXPECT_EQ(std::vector<int>(got.view().data, got.view().data + 6), (std::vector{0, 0, 1, 255, 255, 255}));
}

}  // namespace
}  // namespace stereopsis::quantise_test
