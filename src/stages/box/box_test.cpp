#include "stages/box/box.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::box_test {
namespace {

using namespace test;

void expect_equal_oracle(const box::Parameters& p, Size size, int disparities) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", window "
                                  << p.window_width << "x" << p.window_height);
  const Volume<std::uint8_t> costs = random_volume<std::uint8_t>(size, disparities, 3, 100, 255);
  Volume<std::uint16_t> expected(size, disparities);
  box::oracle(p, costs.view(), expected.view());
  for_each_engine([&](Threads& threads) {
    for (int run = 0; run < 2; ++run) {
      Scratch scratch(box::scratch_bytes(size.width, disparities, threads.count()));
      auto got = poisoned_volume<std::uint16_t>(size, disparities);
      box::cpu(p, costs.view(), got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    }
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
    VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities);
    box::gpu(p, costs_there.volume(), got.volume(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(Box, AveragesEqualTheOracle) {
  for (const Size size : awkward_sizes)
    for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {1, 9}, {9, 1}})
      for (const int disparities : {1, 37}) expect_equal_oracle({width, height}, size, disparities);
  for (const int disparities : {1, 64, 70}) expect_equal_oracle({63, 63}, {29, 11}, disparities);
  skip_without_gpu();
}

TEST(BoxOracle, AveragesTheWindowAndRepeatsTheBorder) {
  Volume<std::uint8_t> costs({3, 1}, 1);
  costs(0, 0, 0) = 10;
  costs(1, 0, 0) = 20;
  costs(2, 0, 0) = 60;
  Volume<std::uint16_t> averages({3, 1}, 1);
  box::oracle({3, 3}, costs, averages);
  EXPECT_EQ(averages(1, 0, 0), 128 * 30);
  EXPECT_EQ(averages(0, 0, 0), (128 * 40 + 1) / 3);
  EXPECT_EQ(averages(2, 0, 0), (128 * 140 + 1) / 3);
}

TEST(BoxParameters, AreChecked) {
  EXPECT_THROW(check_ranges("aggregation", box::Parameters{.window_width = 4}), Error);
  EXPECT_THROW(check_ranges("aggregation", box::Parameters{.window_height = 65}), Error);
  EXPECT_EQ(box::required_input({7, 3}, {10, 10, 2, 2}), (Rect{7, 9, 8, 4}));
}

}  // namespace
}  // namespace stereopsis::box_test
