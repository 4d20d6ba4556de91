#include "stages/subpixel/subpixel.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::subpixel_test {
namespace {

using namespace test;

TEST(Subpixel, DevicesEqualOracle) {
  for_each_volume([](Size size, DisparityRange range) {
    const auto costs = random_volume<std::uint16_t>(size, range.count, 3, 0, size.width % 2 == 0 ? 65535 : 3);
    const Map map = random_map(size, 4, range.min - 2, range.min + range.count + 2, 20);
    const auto oracle = [&](auto disparity, auto) { subpixel::oracle({}, costs.view(), range.min, disparity); };
    for_each_thread_count([&](Threads& threads) {
      expect_map_equals_oracle(
          map, oracle, [&](auto disparity, auto) { subpixel::cpu({}, costs.view(), range.min, disparity, threads); });
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const VolumeOnDevice<std::uint16_t> costs_there(device, queue, costs.view());
      expect_gpu_map_equals_oracle(device, queue, map, oracle, [&](auto disparity, auto) {
        subpixel::gpu({}, costs_there.volume(), range.min, disparity, queue);
      });
    });
  });
  skip_without_gpu();
}

// Enhances one pixel. The costs of the pixel are given from disparity 10 on.
float enhanced(std::vector<std::uint16_t> costs, float disparity) {
  Volume<std::uint16_t> volume({1, 1}, static_cast<int>(costs.size()));
  std::copy(costs.begin(), costs.end(), volume.view().data);
  Image<float> map(1, 1);
  map(0, 0) = disparity;
  subpixel::oracle({}, volume.view(), 10, map);
  return map(0, 0);
}

TEST(SubpixelOracle, TakesTheMinimumOfTheParabola) {
  EXPECT_EQ(enhanced({9, 4, 5}, 11), 11.0f + 1.0f / 3);  // 11 − (5 − 9) / (2 (9 − 8 + 5))
  EXPECT_EQ(enhanced({50, 40, 50}, 11), 11);
  EXPECT_EQ(enhanced({9, 4, 4}, 11), 11.5f);
  EXPECT_EQ(enhanced({9, 4, 5}, 11.3f), 11.0f + 1.0f / 3);  // the nearest integer disparity is used
}

TEST(SubpixelOracle, LeavesWhatIsNoMinimum) {
  EXPECT_EQ(enhanced({3, 4, 5}, 11.25f), 11.25f);
  EXPECT_EQ(enhanced({4, 4, 4}, 11.25f), 11.25f);
  EXPECT_EQ(enhanced({1, 4, 5}, 10), 10);  // disparities at the ends of the range do not change
  EXPECT_EQ(enhanced({5, 4, 1}, 12), 12);
  EXPECT_EQ(enhanced({5, 4, 5}, 500), 500);
  EXPECT_TRUE(std::isnan(enhanced({9, 4, 5}, invalid_disparity)));
}

}  // namespace
}  // namespace stereopsis::subpixel_test
