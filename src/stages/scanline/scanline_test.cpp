#include "stages/scanline/scanline.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::scanline_test {
namespace {

using namespace test;

void expect_all_equal_oracle(const scanline::Parameters& p, Size size, DisparityRange range, int channels) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << range.count << " from " << range.min);
  PitchedImage<std::uint8_t> left(random_image<std::uint8_t>(size, 1, 100, 122, channels).view());
  PitchedImage<std::uint8_t> right(random_image<std::uint8_t>(size, 2, 100, 122, channels).view());
  const auto costs = random_volume<std::uint8_t>(size, range.count, 3, 0, 255);
  Volume<std::uint16_t> expected(size, range.count);
  scanline::oracle(p, {left, right}, range.min, costs.view(), expected.view());
  for_each_engine([&](Threads& threads) {
    Volume<std::uint16_t> got = poisoned_volume<std::uint16_t>(size, range.count);
    Scratch scratch(scanline::scratch_bytes(size, range.count, threads.count()));
    scanline::cpu(p, {left, right}, range.min, costs.view(), got.view(), scratch.span(), threads);
    EXPECT_TRUE(same_cells(got, expected));
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::uint8_t> left_there(device, queue, left), right_there(device, queue, right);
    const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
    VolumeOnDevice<std::uint16_t> got(device, queue, size, range.count);
    const gpu::Buffer scratch = poisoned(device, queue, scanline::gpu_scratch_bytes(size, range.count));
    scanline::gpu(p, {left_there, right_there}, range.min, costs_there.volume(), got.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(Scanline, DevicesEqualOracle) {
  for_each_volume([](Size size, DisparityRange range) { expect_all_equal_oracle({}, size, range, 3); });
  expect_all_equal_oracle({}, {37, 11}, {-5, 33}, 1);
  expect_all_equal_oracle({.p1 = 0, .p2 = 0}, {37, 11}, {0, 20}, 3);
  expect_all_equal_oracle({.p1 = 3, .p2 = 7, .colour = 0}, {37, 11}, {0, 20}, 3);
  expect_all_equal_oracle({.p1 = scanline::largest_penalty, .p2 = scanline::largest_penalty, .colour = 256}, {37, 11},
                          {0, 40}, 3);
  expect_all_equal_oracle({}, {9, 5}, {0, 1100}, 1);  // this number of disparities exceeds local memory
  skip_without_gpu();
}

// The cases cover the branches of the tuned CUDA kernels: lines shorter than one batch and than two, in both halves;
// lanes without disparities; and four and eight disparities per lane.
TEST(Scanline, DevicesEqualOracleWithWholeWordsOfDisparities) {
  for (const DisparityRange range : {DisparityRange{0, 4}, {-3, 60}, {2, 128}, {-64, 136}, {0, 256}})
    expect_all_equal_oracle({}, {37, 19}, range, 3);
  for (const Size size : {Size{1, 1}, Size{1, 20}, Size{50, 1}})
    for (const int disparities : {12, 136}) expect_all_equal_oracle({}, size, {0, disparities}, 3);
  const auto most = scanline::largest_penalty;
  expect_all_equal_oracle({.p1 = most, .p2 = most, .colour = 256}, {9, 40}, {5, 200}, 3);
  expect_all_equal_oracle({.p1 = 10, .p2 = 3000, .colour = 0}, {40, 9}, {0, 12}, 1);
  skip_without_gpu();
}

// A row of three pixels with two disparities: (0 10), (4 6), (5 0). Forward, the paths of the second pixel
// cost 4 + min(0, 10 + 2, 0 + 3) = 4 and 6 + min(10, 0 + 2, 3) = 8. The paths of the third pixel cost 5 + 4 − 4 = 5 and
// 0 + min(8, 4 + 2, 7) − 4 = 2. Backward, the paths cost (5 0), (4 + 2, 6) and (0 + 6 − 6, 10 + 6 − 6). The columns of
// a single row have one pixel, so that each of the two vertical paths costs C.
TEST(ScanlineOracle, FollowsTheRowBothWays) {
  Image<std::uint8_t> plain(3, 1);
  plain.fill(50);
  Volume<std::uint8_t> costs({3, 1}, 2);
  const std::uint8_t values[] = {0, 10, 4, 6, 5, 0};
  std::copy(std::begin(values), std::end(values), costs.view().data);
  Volume<std::uint16_t> sums({3, 1}, 2);
  scanline::oracle({.p1 = 2, .p2 = 3}, {plain, plain}, 0, costs.view(), sums.view());
  const std::uint16_t expected[] = {0 + 0 + 0, 10 + 10 + 20, 4 + 6 + 8, 8 + 6 + 12, 5 + 5 + 10, 2 + 0 + 0};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(sums.view().data[i], expected[i]) << i;
}

TEST(ScanlineOracle, PenaltiesFallWhereColoursDiffer) {
  const auto cost_of_a_jump = [](int left_step, int right_step) {
    Image<std::uint8_t> left(2, 1), right(2, 1);
    left.fill(50);
    right.fill(50);
    left(1, 0) = static_cast<std::uint8_t>(50 + left_step);
    right(1, 0) = static_cast<std::uint8_t>(50 + right_step);
    Volume<std::uint8_t> costs({2, 1}, 1);
    costs(0, 0, 0) = costs(1, 0, 0) = 0;
    Volume<std::uint8_t> jump({2, 1}, 3);
    std::memset(jump.view().data, 255, 6);
    jump(0, 0, 2) = 0;  // the next pixel is cheapest at disparity 0
    jump(1, 0, 0) = 0;
    Volume<std::uint16_t> sums({2, 1}, 3);
    scanline::oracle({.p1 = 40, .p2 = 120}, {left, right}, 0, jump.view(), sums.view());
    return sums(1, 0, 0);  // the forward path contains the jump, and the other three paths start here
  };
  EXPECT_EQ(cost_of_a_jump(14, 14), 120);
  EXPECT_EQ(cost_of_a_jump(15, 0), 30);
  EXPECT_EQ(cost_of_a_jump(0, 15), 30);
  EXPECT_EQ(cost_of_a_jump(15, 15), 12);
}

TEST(ScanlineParameters, EachHasAnEffectAndBadOnesAreRefused) {
  const Size size{30, 12};
  const auto left = random_image<std::uint8_t>(size, 1, 100, 122, 3),
             right = random_image<std::uint8_t>(size, 2, 100, 122, 3);
  const auto costs = random_volume<std::uint8_t>(size, 9, 3, 0, 255);
  const auto sums_of = [&](const scanline::Parameters& p) {
    Volume<std::uint16_t> sums(size, 9);
    scanline::oracle(p, {left, right}, 0, costs.view(), sums.view());
    return sums;
  };
  const auto usual = sums_of({});
  for (const scanline::Parameters& p : {scanline::Parameters{.p1 = 50}, {.p2 = 200}, {.colour = 5}})
    EXPECT_FALSE(same_cells(sums_of(p), usual));
  EXPECT_THROW(sums_of({.p1 = 400}), Error);  // exceeds p2
  EXPECT_THROW(check_ranges("scanline", scanline::Parameters{.p2 = 20000}), Error);
}

}  // namespace
}  // namespace stereopsis::scanline_test
