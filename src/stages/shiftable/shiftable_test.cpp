#include "stages/shiftable/shiftable.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::shiftable_test {
namespace {

using namespace test;

void expect_all_equal_oracle(const shiftable::Parameters& p, Size size, int disparities) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", window " << p.window);
  const Volume<std::uint8_t> costs = random_volume<std::uint8_t>(size, disparities, 3, 100, 255);
  Volume<std::uint16_t> expected(size, disparities);
  shiftable::oracle(p, costs.view(), expected.view());
  for_each_engine([&](Threads& threads) {
    for (int run = 0; run < 2; ++run) {
      Scratch scratch(shiftable::scratch_bytes(p, size.width, disparities, threads.count()));
      auto got = poisoned_volume<std::uint16_t>(size, disparities);
      shiftable::cpu(p, costs.view(), got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    }
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
    VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities);
    const gpu::Buffer scratch = poisoned(
        device, queue, sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities);
    shiftable::gpu(p, costs_there.volume(), got.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(Shiftable, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int window : {1, 5, 9})
      for (const int disparities : {1, 37}) expect_all_equal_oracle({window}, size, disparities);
  expect_all_equal_oracle({63}, {29, 11}, 3);
  expect_all_equal_oracle({3}, {11, 6}, 300);  // this number of disparities exceeds the capacity of a line
  skip_without_gpu();
}

// An edge of the scene lies between the fourth and the fifth pixel. At the disparity of the left side, costs are 0 on
// the left side. For the pixel next to the edge, a window on the left side contains the pixel and costs 0. For a pixel
// beyond the edge, there is no such window.
TEST(ShiftableOracle, TakesTheBestWindowThatHoldsThePixel) {
  Volume<std::uint8_t> costs({9, 5}, 1);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 9; ++x) costs(x, y, 0) = x < 4 ? 0 : 90;
  Volume<std::uint16_t> lowest({9, 5}, 1);
  shiftable::oracle({3}, costs, lowest);
  const int expected[] = {0, 0, 0, 0, 128 * 30, 128 * 60, 128 * 90, 128 * 90, 128 * 90};
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 9; ++x) EXPECT_EQ(lowest(x, y, 0), expected[x]) << x << ", " << y;
}

TEST(ShiftableParameters, AreChecked) {
  EXPECT_THROW(check_ranges("aggregation", shiftable::Parameters{.window = 4}), Error);
  EXPECT_THROW(check_ranges("aggregation", shiftable::Parameters{.window = 65}), Error);
  EXPECT_EQ(shiftable::required_input({7}, {20, 20, 2, 2}), (Rect{14, 14, 14, 14}));
}

}  // namespace
}  // namespace stereopsis::shiftable_test
