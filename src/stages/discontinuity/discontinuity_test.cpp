#include "stages/discontinuity/discontinuity.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::discontinuity_test {
namespace {

using namespace test;

TEST(Discontinuity, DevicesEqualOracle) {
  for_each_volume([](Size size, DisparityRange range) {
    for (const double edge : {0.0, 1.0, 3.0}) {
      const discontinuity::Parameters p{edge};
      const auto costs = random_volume<std::uint16_t>(size, range.count, 3, 0, 200);
      PitchedImage<float> map(random_map(size, 4, range.min - 1, range.min + range.count + 1, 20).disparity.view());
      const auto oracle = [&](auto adjusted) { discontinuity::oracle(p, costs.view(), range.min, map, adjusted); };
      for_each_thread_count([&](Threads& threads) {
        expect_equals_oracle<float>(size, oracle, [&](auto adjusted) {
          discontinuity::cpu(p, costs.view(), range.min, map, adjusted, threads);
        });
      });
      for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        const VolumeOnDevice<std::uint16_t> costs_there(device, queue, costs.view());
        const OnDevice<float> map_there(device, queue, map);
        expect_gpu_equals_oracle<float>(device, queue, size, oracle, [&](auto adjusted) {
          discontinuity::gpu(p, costs_there.volume(), range.min, map_there, adjusted, queue);
        });
      });
    }
  });
  skip_without_gpu();
}

// Adjusts three pixels with the disparities 2, 2 and 5 and the given costs. All other costs are 100.
std::vector<float> adjusted(std::array<int, 3> costs, double edge = 1) {
  const Map map = map_of({{2, 2, 5}});
  Volume<std::uint16_t> volume({3, 1}, 8);
  std::fill_n(volume.view().data, 24, std::uint16_t{100});
  for (int x = 0; x < 3; ++x)
    volume(x, 0, static_cast<int>(map.disparity(x, 0))) = static_cast<std::uint16_t>(costs[x]);
  Image<float> out(3, 1);
  discontinuity::oracle({edge}, volume.view(), 0, map.disparity, out);
  return {out.row(0), out.row(0) + 3};
}

TEST(DiscontinuityOracle, TakesTheCheaperSide) {
  EXPECT_EQ(adjusted({50, 40, 30}), (std::vector<float>{2, 5, 5}));
  EXPECT_EQ(adjusted({50, 40, 60}), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(adjusted({20, 40, 20}),
            (std::vector<float>{2, 2, 5}));  // the left pixel wins the tie, and the pixels with 2 and 5 do not change
  EXPECT_EQ(adjusted({50, 40, 40}), (std::vector<float>{2, 2, 5}));     // with equal costs, no pixel changes
  EXPECT_EQ(adjusted({50, 40, 30}, 3), (std::vector<float>{2, 2, 5}));  // the difference is not an edge
}

TEST(DiscontinuityParameters, InPlaceIsRefused) {
  Map map = map_of({{2, 2, 5}});
  Volume<std::uint16_t> volume({3, 1}, 8);
  EXPECT_THROW(discontinuity::oracle({}, volume.view(), 0, map.disparity, map.disparity), Error);
}

}  // namespace
}  // namespace stereopsis::discontinuity_test
