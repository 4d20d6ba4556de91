#include "stages/belief_propagation/belief_propagation.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::belief_propagation_test {
namespace {

using namespace test;

Volume<std::uint16_t> sums_of(const belief_propagation::Parameters& p, const Volume<std::uint8_t>& costs) {
  const auto view = costs.view();
  Volume<std::uint16_t> sums({view.width, view.height}, view.disparities);
  belief_propagation::oracle(p, view, sums.view());
  return sums;
}

void expect_all_equal_oracle(const belief_propagation::Parameters& p, Size size, int disparities, int most = 255) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", " << p.levels
                                  << " levels, truncation " << p.truncation << ", convergence " << p.convergence);
  const auto costs = random_volume<std::uint8_t>(size, disparities, 3, 0, most);
  const auto expected = sums_of(p, costs);
  for_each_engine([&](Threads& threads) {
    auto got = poisoned_volume<std::uint16_t>(size, disparities);
    Scratch scratch(belief_propagation::scratch_bytes(p, size, disparities, threads.count()));
    belief_propagation::cpu(p, costs.view(), got.view(), scratch.span(), threads);
    EXPECT_TRUE(same_cells(got, expected));
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
    VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities);
    const gpu::Buffer scratch = poisoned(device, queue, belief_propagation::gpu_scratch_bytes(p, size, disparities));
    belief_propagation::gpu(p, costs_there.volume(), got.volume(), scratch.span(), queue);
    EXPECT_TRUE(same_cells(got.download(), expected));
  });
}

TEST(BeliefPropagation, DevicesEqualOracle) {
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 3}, Size{5, 7}, Size{37, 11}})
    for (const int disparities : {1, 2, 16, 37}) expect_all_equal_oracle({.iterations = 2}, size, disparities);
  const Size size{23, 14};
  expect_all_equal_oracle({.slope = 1, .truncation = 63}, size, 20);      // the largest truncation for 5 levels
  expect_all_equal_oracle({.slope = 5, .truncation = 63}, size, 33, 30);  // this truncation is reached
  expect_all_equal_oracle({.slope = 3, .truncation = 16319, .levels = 1, .iterations = 3}, size, 40);
  expect_all_equal_oracle({.slope = 20, .truncation = 20, .levels = 2}, size, 9);
  for (const int convergence : {1, 5, 60}) expect_all_equal_oracle({.convergence = convergence}, size, 12, 40);
  expect_all_equal_oracle({.levels = 2, .iterations = 1}, {5, 4}, 1100);
  skip_without_gpu();
}

// The cases cover disparities of a pixel in one thread, in a part of a warp, in a full warp, and beyond a warp, with
// and without gaps. The cases cover messages that reach only the next disparity, and messages that pass through several
// threads. The cases also cover the largest values that fit.
TEST(BeliefPropagation, TunedKernelsEqualOracle) {
  for (const Size size : {Size{1, 9}, Size{9, 1}, Size{5, 7}, Size{37, 11}})
    for (const int disparities : {1, 15, 17, 60, 64}) expect_all_equal_oracle({.iterations = 2}, size, disparities);
  expect_all_equal_oracle({.levels = 2, .iterations = 1}, {131, 33}, 20);
  const Size size{11, 6};
  for (const int disparities : {100, 128, 200, 256, 500, 512, 513})
    expect_all_equal_oracle({.levels = 3, .iterations = 1}, size, disparities);
  expect_all_equal_oracle({.slope = 1, .truncation = 63, .levels = 5, .iterations = 1}, size, 130);
  expect_all_equal_oracle({.slope = 2, .truncation = 63, .levels = 2}, size, 256, 30);
  expect_all_equal_oracle({.slope = 10, .truncation = 30, .levels = 2}, size, 70, 60);
  for (const int slope : {1, 3, 254, 255})
    for (const int disparities : {40, 70, 300})
      expect_all_equal_oracle({.slope = slope, .truncation = 255, .levels = 1, .iterations = 2}, size, disparities);
  expect_all_equal_oracle({.slope = 1, .truncation = 256, .levels = 1, .iterations = 2}, size, 20);  // exceeds 8 bits
  expect_all_equal_oracle({.truncation = 60, .convergence = 1}, size, 20, 30);
  skip_without_gpu();
}

// On a tree, such as a row, a converged sum is the lowest energy of all labellings with this disparity.
TEST(BeliefPropagationOracle, IsExactOnARow) {
  constexpr int width = 5, count = 4;
  const belief_propagation::Parameters p{.slope = 6, .truncation = 15, .levels = 1, .iterations = 5};
  for (const unsigned seed : {1u, 2u, 3u}) {
    const auto costs = random_volume<std::uint8_t>({width, 1}, count, seed, 0, 30);
    int lowest[width][count];
    std::fill_n(&lowest[0][0], width * count, 1 << 20);
    for (int row = 0; row < 1024; ++row) {  // 4⁵
      const auto at = [&](int x) { return row >> 2 * x & 3; };
      int energy = 0;
      for (int x = 0; x < width; ++x) {
        energy += costs(x, 0, at(x));
        if (x > 0) energy += std::min(p.slope * std::abs(at(x) - at(x - 1)), p.truncation);
      }
      for (int x = 0; x < width; ++x) lowest[x][at(x)] = std::min(lowest[x][at(x)], energy);
    }
    const auto sums = sums_of(p, costs);
    for (int x = 0; x < width; ++x)
      for (int k = 1; k < count; ++k)
        EXPECT_EQ(sums(x, 0, k) - sums(x, 0, 0), lowest[x][k] - lowest[x][0]) << "seed " << seed << ", x " << x;
  }
}

// Two levels for a row of two pixels. The coarse level passes no message. On the fine level, the left pixel sends
// first: the costs are (0 9), the slope is 2 and the truncation is 5, so the message is 0 and 2. The right pixel
// answers from its own costs (7 0) with 2 and 0.
TEST(BeliefPropagationOracle, TellsInTurns) {
  Volume<std::uint8_t> costs({2, 1}, 2);
  const std::uint8_t values[] = {0, 9, 7, 0};
  std::copy(std::begin(values), std::end(values), costs.view().data);
  const auto sums = sums_of({.slope = 2, .truncation = 5, .levels = 2, .iterations = 1}, costs);
  const std::uint16_t expected[] = {0 + 2, 9 + 0, 7 + 0, 0 + 2};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sums.view().data[i], expected[i]) << i;
}

// Messages along a row of coarse pixels reach farther than the iterations of the finest level.
TEST(BeliefPropagationOracle, CoarserLevelsReachFurther) {
  Volume<std::uint8_t> costs({32, 1}, 2);
  for (int x = 0; x < 32; ++x) costs(x, 0, 0) = costs(x, 0, 1) = 10;
  costs(0, 0, 1) = 0;
  const auto difference = [&](int levels) {
    const auto sums = sums_of({.slope = 5, .truncation = 5, .levels = levels, .iterations = 2}, costs);
    return sums(31, 0, 0) - sums(31, 0, 1);
  };
  EXPECT_EQ(difference(1), 0);
  EXPECT_GT(difference(5), 0);
}

TEST(BeliefPropagationParameters, EachHasAnEffect) {
  using belief_propagation::Parameters;
  const auto costs = random_volume<std::uint8_t>({19, 13}, 8, 3, 0, 60);
  const auto usual = sums_of({}, costs);
  for (const Parameters& p : {Parameters{.slope = 5}, Parameters{.truncation = 40}, Parameters{.levels = 2},
                              Parameters{.iterations = 1}, Parameters{.convergence = 10}})
    EXPECT_FALSE(same_cells(sums_of(p, costs), usual));
}

TEST(BeliefPropagationParameters, BadOnesAreRefused) {
  using belief_propagation::Parameters;
  EXPECT_THROW(belief_propagation::check({.slope = 30}), Error);       // the slope exceeds the truncation
  EXPECT_THROW(belief_propagation::check({.truncation = 64}), Error);  // the sums exceed 16 bits with 5 levels
  EXPECT_NO_THROW(belief_propagation::check({.truncation = 63}));
  EXPECT_THROW(belief_propagation::check({.truncation = 15364, .levels = 3}), Error);
  EXPECT_NO_THROW(belief_propagation::check({.truncation = 15363, .levels = 3}));
  for (const Parameters& p : {Parameters{.slope = 0}, Parameters{.truncation = 16320}, Parameters{.levels = 6},
                              Parameters{.levels = 0}, Parameters{.iterations = 0}})
    EXPECT_THROW(check_ranges("belief_propagation", p), Error);
}

}  // namespace
}  // namespace stereopsis::belief_propagation_test
