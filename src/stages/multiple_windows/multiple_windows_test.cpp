#include "stages/multiple_windows/multiple_windows.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::multiple_windows_test {
namespace {

using namespace test;

void expect_all_equal_oracle(const multiple_windows::Parameters& p, Size size, int disparities) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", " << p.windows
                                  << " windows of " << p.window);
  const Volume<std::uint8_t> costs = random_volume<std::uint8_t>(size, disparities, 3, 100, 255);
  Volume<std::uint16_t> expected(size, disparities);
  multiple_windows::oracle(p, costs.view(), expected.view());
  for_each_engine([&](Threads& threads) {
    for (int run = 0; run < 2; ++run) {
      Scratch scratch(multiple_windows::scratch_bytes(size, disparities, threads.count()));
      auto got = poisoned_volume<std::uint16_t>(size, disparities);
      multiple_windows::cpu(p, costs.view(), got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    }
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
    VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities);
    const gpu::Buffer scratch = poisoned(
        device, queue, sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities);
    multiple_windows::gpu(p, costs_there.volume(), got.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(MultipleWindows, DevicesEqualOracle) {
  for (const int windows : {5, 9})
    for (const Size size : awkward_sizes)
      for (const int window : {1, 7})
        for (const int disparities : {1, 37}) expect_all_equal_oracle({window, windows}, size, disparities);
  expect_all_equal_oracle({63, 5}, {29, 11}, 3);
  skip_without_gpu();
}

// With W = 1, each window is a single pixel, and all windows lie at the same pixel. A field of 0 has a column of 90 to
// the right of the middle. Each 3×3 window that contains the column costs 30, and two of the four corner windows
// contain it.
TEST(MultipleWindowsOracle, AddsTheBestHalfOfTheWindowsBeside) {
  Volume<std::uint8_t> costs({9, 9}, 1);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 9; ++x) costs(x, y, 0) = x == 5 ? 90 : 0;
  Volume<std::uint16_t> aggregated({9, 9}, 1);
  multiple_windows::oracle({1, 9}, costs, aggregated);
  EXPECT_EQ(aggregated(5, 4, 0), 128 * 90);
  EXPECT_EQ(aggregated(4, 4, 0), 0);
  multiple_windows::oracle({3, 5}, costs, aggregated);
  EXPECT_EQ(aggregated(3, 4, 0), 0);
  EXPECT_EQ(aggregated(4, 4, 0), 128 * 10);  // 30 for the window around the pixel, and twice 0
  EXPECT_EQ(aggregated(5, 4, 0), 128 * 30);  // all windows contain the column of 90
  multiple_windows::oracle({3, 9}, costs, aggregated);
  // Three of the eight windows do not contain the column.
  EXPECT_EQ(aggregated(4, 4, 0), 128 * (30 + 0 + 0 + 0 + 30) / 5);
}

TEST(MultipleWindowsParameters, AreChecked) {
  EXPECT_THROW(check_ranges("aggregation", multiple_windows::Parameters{.window = 4}), Error);
  EXPECT_THROW(check_ranges("aggregation", multiple_windows::Parameters{.window = 65}), Error);
  EXPECT_THROW(check_ranges("aggregation", multiple_windows::Parameters{.windows = 7}), Error);
  EXPECT_EQ(multiple_windows::required_input({7, 5}, {20, 20, 2, 2}), (Rect{14, 14, 14, 14}));
}

}  // namespace
}  // namespace stereopsis::multiple_windows_test
