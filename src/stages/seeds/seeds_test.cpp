#include "stages/seeds/seeds.hpp"

#include "support/cost_volumes.hpp"
#include "support/devices.hpp"

namespace stereopsis::seeds_test {
namespace {

using namespace test;

// A prior with a seed at half of the pixels, near, in and beyond the range.
Image<std::uint32_t> random_prior(Size size, int count) {
  std::mt19937 dice(3);
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
      const Image<std::uint32_t> source = random_prior(size, range.count);
      PitchedImage<std::uint32_t> prior(source.view());
      Volume<std::uint8_t> expected = copy_of<std::uint8_t>(costs.view());
      seeds::oracle(p, prior, expected.view());
      for_each_engine([&](Threads& threads) {
        Volume<std::uint8_t> got = copy_of<std::uint8_t>(costs.view());
        seeds::cpu(p, prior, got.view(), threads);
        EXPECT_TRUE(same_cells(got, expected));
      });
      for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        const OnDevice<std::uint32_t> there(device, queue, prior);
        VolumeOnDevice<std::uint8_t> got(device, queue, costs);
        seeds::gpu(p, there, got.volume(), queue);
        EXPECT_TRUE(same_cells(got.download(), expected));
      });
    });
  skip_without_gpu();
}

TEST(SeedsOracle, TheTermGrowsOverFourPixels) {
  Volume<std::uint8_t> costs({1, 1}, 12);
  std::fill_n(costs.view().data, 12, std::uint8_t{200});
  Image<std::uint32_t> prior({1, 1}, 1, 16 * 5 << 8 | 255);
  seeds::oracle({76}, prior, costs.view());
  const std::vector<int> got(costs.view().data, costs.view().data + 12);
  EXPECT_EQ(got, (std::vector<int>{255, 255, 255, 237, 218, 200, 218, 237, 255, 255, 255, 255}));
}

}  // namespace
}  // namespace stereopsis::seeds_test
