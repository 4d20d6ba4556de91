#include "stages/sum/sum.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::sum_test {
namespace {

using namespace test;

TEST(Sum, DevicesEqualOracle) {
  for (const sum::Parameters& p : {sum::Parameters{}, {255, 255}, {64, 26}, {0, 1}})
    for_each_volume([&](Size size, DisparityRange range) {
      const auto costs = random_volume<std::uint8_t>(size, range.count, 1, 0, 255);
      const auto plus = random_volume<std::uint8_t>(size, range.count, 2, 0, 255);
      Volume<std::uint8_t> expected = copy_of<std::uint8_t>(plus.view());
      sum::oracle(p, costs.view(), expected.view());
      for_each_engine([&](Threads& threads) {
        Volume<std::uint8_t> got = copy_of<std::uint8_t>(plus.view());
        sum::cpu(p, costs.view(), got.view(), threads);
        EXPECT_TRUE(same_cells(got, expected));
      });
      for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        const VolumeOnDevice<std::uint8_t> there(device, queue, costs);
        VolumeOnDevice<std::uint8_t> got(device, queue, plus);
        sum::gpu(p, there.volume(), got.volume(), queue);
        EXPECT_TRUE(same_cells(got.download(), expected));
      });
    });
  skip_without_gpu();
}

TEST(SumOracle, IsWeightedRoundedAndSaturated) {
  Volume<std::uint8_t> costs({1, 1}, 3), sums({1, 1}, 3);
  const int a[] = {100, 7, 255}, b[] = {50, 1, 255};
  for (int k = 0; k < 3; ++k) {
    costs.view()(0, 0, k) = static_cast<std::uint8_t>(a[k]);
    sums.view()(0, 0, k) = static_cast<std::uint8_t>(b[k]);
  }
  sum::oracle({.cost_weight = 64, .plus_weight = 32}, costs.view(), sums.view());
  EXPECT_EQ(sums(0, 0, 0), 125);
  EXPECT_EQ(sums(0, 0, 1), 8);    // 7.5
  EXPECT_EQ(sums(0, 0, 2), 255);  // 382.5
  EXPECT_EQ(sum::largest({64, 32}, 100, 50), 125.5);
  EXPECT_EQ(sum::largest({255, 255}, 255, 255), 255);
}

}  // namespace
}  // namespace stereopsis::sum_test
