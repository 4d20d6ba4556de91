#include "stages/dynamic_programming/dynamic_programming.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::dynamic_programming_test {
namespace {

using namespace test;

void expect_all_equal_oracle(const dynamic_programming::Parameters& p, Size size, int disparities) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", p2 " << p.p2);
  const auto costs = random_volume<std::uint8_t>(size, disparities, 3, 0, 255);
  Volume<std::uint16_t> expected(size, disparities);
  dynamic_programming::oracle(p, costs.view(), expected.view());
  for_each_engine([&](Threads& threads) {
    auto got = poisoned_volume<std::uint16_t>(size, disparities);
    Scratch scratch(dynamic_programming::scratch_bytes(size.width, disparities, threads.count()));
    dynamic_programming::cpu(p, costs.view(), got.view(), scratch.span(), threads);
    EXPECT_TRUE(same_cells(got, expected));
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
    VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities);
    const gpu::Buffer scratch = poisoned(device, queue, dynamic_programming::gpu_scratch_bytes(size, disparities));
    dynamic_programming::gpu(p, costs_there.volume(), got.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(DynamicProgramming, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int disparities : {1, 2, 16, 37}) expect_all_equal_oracle({}, size, disparities);
  const int most = dynamic_programming::largest_penalty;
  expect_all_equal_oracle({.p1 = 1, .p2 = 1}, {37, 11}, 20);
  expect_all_equal_oracle({.p1 = most, .p2 = most}, {37, 11}, 40);
  expect_all_equal_oracle({.p1 = 1, .p2 = most}, {37, 11}, 40);
  // The numbers of disparities of the instances of the tuned kernels, and one more than each number.
  for (const int disparities : {60, 64, 65, 127, 128, 130, 256, 257})
    for (const int width : {1, 2, 30, 131}) expect_all_equal_oracle({.p1 = 12, .p2 = 300}, {width, 3}, disparities);
  expect_all_equal_oracle({.p1 = most, .p2 = most}, {19, 3}, 250);
  expect_all_equal_oracle({}, {9, 5}, 1100);  // this number of disparities exceeds local memory
  skip_without_gpu();
}

// Tests the definition over all sequences of disparities. S and the lowest energy of the sequences through (x, d)
// differ by the same number for all d of a pixel.
TEST(DynamicProgrammingOracle, IsTheLowestEnergyOfAllRowsThroughADisparity) {
  constexpr int width = 5, count = 4;
  const dynamic_programming::Parameters p{.p1 = 6, .p2 = 17};
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    const auto costs = random_volume<std::uint8_t>({width, 1}, count, seed, 0, 30);
    int lowest[width][count];
    std::fill_n(&lowest[0][0], width * count, 1 << 20);
    for (int row = 0; row < 1024; ++row) {  // 4⁵
      int energy = 0;
      const auto at = [&](int x) { return row >> 2 * x & 3; };
      for (int x = 0; x < width; ++x) {
        energy += costs(x, 0, at(x));
        const int change = x == 0 ? 0 : std::abs(at(x) - at(x - 1));
        energy += change == 0 ? 0 : change == 1 ? p.p1 : p.p2;
      }
      for (int x = 0; x < width; ++x) lowest[x][at(x)] = std::min(lowest[x][at(x)], energy);
    }
    Volume<std::uint16_t> sums({width, 1}, count);
    dynamic_programming::oracle(p, costs.view(), sums.view());
    for (int x = 0; x < width; ++x)
      for (int k = 1; k < count; ++k)
        EXPECT_EQ(sums(x, 0, k) - sums(x, 0, 0), lowest[x][k] - lowest[x][0]) << "seed " << seed << ", x " << x;
  }
}

// Back-tracking after the forward pass of a row results in the disparities with the lowest S.
TEST(DynamicProgrammingOracle, TheLowestSumsAreTheBacktrackedRow) {
  constexpr int width = 60, count = 12;
  const dynamic_programming::Parameters p{.p1 = 35, .p2 = 105};
  const auto costs = random_volume<std::uint8_t>({width, 1}, count, 7, 0, 250);
  const auto penalty = [&](int a, int b) { return a == b ? 0 : std::abs(a - b) == 1 ? p.p1 : p.p2; };
  std::vector<std::vector<int>> energy(width, std::vector<int>(count)), from = energy;
  for (int x = 0; x < width; ++x)
    for (int k = 0; k < count; ++k) {
      if (x > 0) {
        for (int j = 0; j < count; ++j)
          if (energy[x - 1][j] + penalty(j, k) < energy[x - 1][from[x][k]] + penalty(from[x][k], k)) from[x][k] = j;
        energy[x][k] = energy[x - 1][from[x][k]] + penalty(from[x][k], k);
      }
      energy[x][k] += costs(x, 0, k);
    }
  const auto lowest_of = [](const auto* values) {
    return static_cast<int>(std::min_element(values, values + count) - values);
  };
  Volume<std::uint16_t> sums({width, 1}, count);
  dynamic_programming::oracle(p, costs.view(), sums.view());
  int tracked = lowest_of(energy[width - 1].data()), changes = 0;
  for (int x = width - 1; x >= 0; --x) {
    EXPECT_EQ(lowest_of(sums.view().pixel(x, 0)), tracked) << x;
    if (x > 0) changes += from[x][tracked] != tracked;
    tracked = from[x][tracked];
  }
  EXPECT_GT(changes, 3);
}

TEST(DynamicProgrammingParameters, BadOnesAreRefused) {
  using dynamic_programming::Parameters;
  EXPECT_THROW(dynamic_programming::check({.p1 = 50, .p2 = 40}), Error);
  EXPECT_NO_THROW(dynamic_programming::check({.p1 = 40, .p2 = 40}));
  for (const Parameters& p : {Parameters{.p1 = 0}, Parameters{.p2 = 0}, Parameters{.p2 = 32640}})
    EXPECT_THROW(check_ranges("dynamic_programming", p), Error);
}

}  // namespace
}  // namespace stereopsis::dynamic_programming_test
