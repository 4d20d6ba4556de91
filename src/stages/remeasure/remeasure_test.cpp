#include "stages/remeasure/remeasure.hpp"

#include <limits>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"
#include "support/words.hpp"

namespace stereopsis::remeasure_test {
namespace {

using namespace test;

constexpr DisparityRange range{-3, 16};

// Words of both views that agree at a disparity that depends on the row, except for noise, and a map near it.
struct Problem {
  Map map;
  Image<std::uint64_t> left, right;
  Image<float> confidence;
};

int true_disparity(int y) { return y / 5 % 9 - 2; }

Problem random_problem(Size size, unsigned seed) {
  Problem p{random_map(size, seed, -3, 12, 10), random_colours(size, seed), Image<std::uint64_t>(size),
            Image<float>(size)};
  std::mt19937 dice(seed);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      p.right(x, y) = p.left.view().clamped(x + true_disparity(y), y) ^ (1ull << dice() % 48);
      p.confidence(x, y) = static_cast<float>(dice() % 101) / 100;
      float& d = p.map.disparity(x, y);
      if (d == d && dice() % 3 != 0) {
        d = static_cast<float>(true_disparity(y)) + 0.25f * static_cast<float>(static_cast<int>(dice() % 9) - 4);
        p.map.validity(x, y) = dice() % 2 ? validity::filled : 0;
      }
    }
  return p;
}

void expect_all_equal_oracle(const Problem& problem, const remeasure::Parameters& p) {
  const Size size = problem.left.size();
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", tolerance " << p.tolerance);
  const auto oracle = [&](auto d, auto v) {
    remeasure::oracle(p, {problem.left, problem.right, problem.confidence}, range, d, v);
  };
  PitchedImage<std::uint64_t> left(problem.left.view()), right(problem.right.view());
  PitchedImage<float> confidence(problem.confidence.view());
  for_each_engine([&](Threads& threads) {
    expect_map_equals_oracle(problem.map, oracle, [&](auto d, auto v) {
      remeasure::cpu(p, {left, right, confidence}, range, d, v, threads);
    });
  });
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<std::uint64_t> left_there(device, queue, left), right_there(device, queue, right);
    const OnDevice<float> confidence_there(device, queue, confidence);
    expect_gpu_map_equals_oracle(device, queue, problem.map, oracle, [&](auto d, auto v) {
      remeasure::gpu(p, {left_there, right_there, confidence_there}, range, d, v, queue);
    });
  });
}

TEST(Remeasure, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const remeasure::Parameters& p : {remeasure::Parameters{}, {0, 3}, {0.9, 0.25}})
      expect_all_equal_oracle(random_problem(size, 7), p);
  Problem far = random_problem({40, 12}, 8);
  for (const float d : {32768.0f, -32768.0f, 1e30f, 39.0f, -39.0f, 32767.5f})
    far.map.disparity(static_cast<int>(std::abs(d)) % 31, d < 0 ? 4 : 9) = d;
  for (int x = 0; x < 40; x += 3) far.confidence(x, 5) = std::numeric_limits<float>::quiet_NaN();
  expect_all_equal_oracle(far, {});
}

// The map of one pixel with this disparity, after the stage; the other pixels are invalid. Both views agree at 4.
Map one_pixel(float disparity, std::uint8_t validity, float confidence, const remeasure::Parameters& p = {},
              DisparityRange searched = range) {
  const Size size{32, 16};
  const Image<std::uint64_t> left = random_colours(size, 3);
  Image<std::uint64_t> right(size);
  Image<float> trust(size), map(size);
  Image<std::uint8_t> marks(size);
  map.fill(invalid_disparity), marks.fill(validity::left_right), trust.fill(0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) right(x, y) = left.view().clamped(x + 4, y);
  map(16, 8) = disparity, marks(16, 8) = validity, trust(16, 8) = confidence;
  remeasure::oracle(p, {left, right, trust}, searched, map, marks);
  return {Image<float>(map.view().crop({16, 8, 1, 1})), Image<std::uint8_t>(marks.view().crop({16, 8, 1, 1}))};
}

TEST(RemeasureOracle, AFilledPixelOnWhichTheImagesAgreeIsMeasured) {
  for (const float d : {3.4f, 4.0f, 4.6f}) {
    const Map map = one_pixel(d, validity::filled, 0.9f);
    EXPECT_EQ(map.validity(0, 0), 0) << d;
    EXPECT_NEAR(map.disparity(0, 0), 4, 0.1f) << d;
  }
}

TEST(RemeasureOracle, OtherPixelsKeepTheirDisparity) {
  constexpr std::uint8_t filled = validity::filled;
  const auto expect_kept = [=](float d, const Map& map) {
    EXPECT_EQ(map.disparity(0, 0), d);
    EXPECT_EQ(map.validity(0, 0), filled);
  };
  expect_kept(5.5f, one_pixel(5.5f, filled, 0.9f));  // the images agree at 4, which is the last of the candidates
  expect_kept(2.25f, one_pixel(2.25f, filled, 0.9f));
  expect_kept(4, one_pixel(4, filled, 0.5f));              // not trusted
  expect_kept(4, one_pixel(4, filled, 0.9f, {}, {5, 8}));  // outside the search range
  expect_kept(4.75f, one_pixel(4.75f, filled, 0.9f, {.tolerance = 0.5}));
}

TEST(RemeasureOracle, AMeasuredPixelThatIsNotTrustedNoLongerCountsAsMeasured) {
  EXPECT_EQ(one_pixel(7, 0, 0.6f).validity(0, 0), 0);
  for (const float confidence : {0.5f, std::numeric_limits<float>::quiet_NaN()}) {
    const Map doubted = one_pixel(7, 0, confidence);
    EXPECT_EQ(doubted.validity(0, 0), validity::filled);
    EXPECT_EQ(doubted.disparity(0, 0), 7);
  }
}

TEST(RemeasureParameters, RangesAreRefused) {
  EXPECT_THROW(check_ranges("remeasure", remeasure::Parameters{1.1}), Error);
  EXPECT_THROW(check_ranges("remeasure", remeasure::Parameters{0.5, 4}), Error);
  EXPECT_NO_THROW(check_ranges("remeasure", remeasure::Parameters{0, 0}));
}

}  // namespace
}  // namespace stereopsis::remeasure_test
