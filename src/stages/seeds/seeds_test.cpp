#include "stages/seeds/seeds.hpp"

#include "support/cost_volumes.hpp"
#include "support/devices.hpp"

namespace stereopsis::seeds_test {
namespace {

using namespace test;

// A prior with a seed at half of the pixels, near, in and beyond the range.
Image<std::uint32_t> random_prior(Size size, int count, unsigned seed) {
  std::mt19937 dice(seed);
  Image<std::uint32_t> prior(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      prior(x, y) = dice() % 2 == 0 ? 0 : (dice() % static_cast<unsigned>(16 * count)) << 8 | dice() % 256;
  return prior;
}

TEST(Seeds, DevicesEqualOracle) {
  for (const int weight : {0, 1, 76, 255})
    for_each_volume([&](Size size, DisparityRange range) {
      const seeds::Parameters p{weight};
      const auto costs = random_volume<std::uint8_t>(size, range.count, 1, 0, 255);
      PitchedImage<std::uint32_t> prior(random_prior(size, range.count, 3).view()),
          further(random_prior(size, range.count, 4).view());
      const bool has_further = weight != 1;
      const auto second = has_further ? ImageView<const std::uint32_t>(further) : ImageView<const std::uint32_t>();
      Volume<std::uint8_t> expected = copy_of<std::uint8_t>(costs.view());
      seeds::oracle(p, prior, second, expected.view());
      for_each_engine([&](Threads& threads) {
        Volume<std::uint8_t> got = copy_of<std::uint8_t>(costs.view());
        seeds::cpu(p, prior, second, got.view(), threads);
        EXPECT_TRUE(same_cells(got, expected));
      });
      for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        const OnDevice<std::uint32_t> there(device, queue, prior), second_there(device, queue, further);
        const gpu::View<const std::uint32_t> given = second_there;
        VolumeOnDevice<std::uint8_t> got(device, queue, costs);
        seeds::gpu(p, there, has_further ? given : gpu::View<const std::uint32_t>(), got.volume(), queue);
        EXPECT_TRUE(same_cells(got.download(), expected));
      });
    });
  skip_without_gpu();
}

// Returns the sums of 12 candidates with the same cost and a seed at the fifth.
std::vector<int> sums(std::uint8_t cost) {
  Volume<std::uint8_t> costs({1, 1}, 12);
  std::fill_n(costs.view().data, 12, cost);
  const Image<std::uint32_t> prior({1, 1}, 1, 16 * 5 << 8 | 255);
  seeds::oracle({76}, prior, {}, costs.view());
  return {costs.view().data, costs.view().data + 12};
}

TEST(SeedsOracle, TheTermGrowsOverFourPixels) {
  EXPECT_EQ(sums(100), (std::vector<int>{175, 175, 156, 137, 118, 100, 118, 137, 156, 175, 175, 175}));
}

TEST(SeedsOracle, TheSumIsLimitedAndNoCostFalls) {
  EXPECT_EQ(sums(180), (std::vector<int>{210, 210, 210, 210, 198, 180, 198, 210, 210, 210, 210, 210}));
  EXPECT_EQ(sums(230), std::vector<int>(12, 230));
  EXPECT_EQ(seeds::largest({76}, 58), 134);
  EXPECT_EQ(seeds::largest({76}, 168), 210);
  EXPECT_EQ(seeds::largest({76}, 255), 255);
}

}  // namespace
}  // namespace stereopsis::seeds_test
