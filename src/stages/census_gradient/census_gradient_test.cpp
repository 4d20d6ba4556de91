#include "stages/census_gradient/census_gradient.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::census_gradient_test {
namespace {

using namespace test;

template <class T>
class CensusGradient : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(CensusGradient, PixelTypes);

TYPED_TEST(CensusGradient, CpuEqualsOracle) {
  for (const Size size : awkward_sizes) {
    SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
    PitchedImage<TypeParam> grey(random_image<TypeParam>(size, 7, 0, 9).view());
    PitchedImage<std::uint8_t> grey8(random_image<std::uint8_t>(size, 8, 0, 255).view());
    for_each_engine([&](Threads& threads) {
      expect_equals_oracle<std::uint32_t>(
          size, [&](auto out) { census_gradient::oracle<TypeParam>(grey, grey8, out); },
          [&](auto out) { census_gradient::cpu<TypeParam>(grey, grey8, out, threads); });
    });
  }
}

TYPED_TEST(CensusGradient, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
      PitchedImage<TypeParam> grey(random_image<TypeParam>(size, 7, 0, 9).view());
      PitchedImage<std::uint8_t> grey8(random_image<std::uint8_t>(size, 8, 0, 255).view());
      const OnDevice<TypeParam> there(device, queue, grey);
      const OnDevice<std::uint8_t> there8(device, queue, grey8);
      expect_gpu_equals_oracle<std::uint32_t>(
          device, queue, size, [&](auto out) { census_gradient::oracle<TypeParam>(grey, grey8, out); },
          [&](auto out) { census_gradient::gpu<TypeParam>(there, there8, out, queue); });
    }
  });
}

TEST(CensusGradientOracle, HoldsComparisonsAndGradient) {
  Image<std::uint8_t> grey({5, 5}, 1, 10);
  grey(0, 0) = 3;   // the first neighbour of the centre belongs to bit 0
  grey(4, 4) = 9;   // the last neighbour belongs to bit 23
  grey(3, 2) = 50;  // the right neighbour is brighter, so no bit is set, and the gradient is 40
  Image<std::uint32_t> words(Size{5, 5});
  census_gradient::oracle<std::uint8_t>(grey, grey, words);
  EXPECT_EQ(words(2, 2), (128u + 40) << 24 | 1u << 23 | 1u);
}

}  // namespace
}  // namespace stereopsis::census_gradient_test
