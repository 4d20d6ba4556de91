#include "stages/seed_check/seed_check.hpp"

#include "support/devices.hpp"
#include "support/targets.hpp"
#include "support/words.hpp"

namespace stereopsis::seed_check_test {
namespace {

using namespace test;

// Words of both views that agree at the disparity 3 except for noise, a map near it, and seeds at two thirds of the pixels.
struct Problem {
  explicit Problem(Size size)
      : map(random_map(size, 4, -3, 12, 10)), left(random_colours(size, 4)), right(size), prior(size) {
    std::mt19937 dice(4);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        right(x, y) = left.view().clamped(x + 3, y) ^ (1ull << dice() % 48);
        prior(x, y) = dice() % 3 == 0 ? 0 : 256 * 48 + 1 + dice() % 255;
        map.validity(x, y) = dice() % 6 == 0 ? validity::repaired : 0;
        if (dice() % 2 == 0) map.disparity(x, y) = 3 + 0.25f * static_cast<float>(static_cast<int>(dice() % 13) - 6);
      }
  }

  Map map;
  Image<std::uint64_t> left, right;
  Image<std::uint32_t> prior;
};

TEST(SeedCheck, DevicesEqualOracle) {
  for (const Size size : awkward_sizes) {
    const Problem problem(size);
    PitchedImage<std::uint64_t> left(problem.left.view()), right(problem.right.view());
    PitchedImage<std::uint32_t> prior(problem.prior.view());
    const auto in = [&](auto d) { return seed_check::Input{prior, left, right, d}; };
    const auto oracle = [&](auto d, auto v) { seed_check::oracle(in(d), v); };
    for_each_thread_count([&](Threads& threads) {
      expect_map_equals_oracle(problem.map, oracle, [&](auto d, auto v) { seed_check::cpu(in(d), v, threads); });
    });
    for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const OnDevice<std::uint64_t> left_there(device, queue, left), right_there(device, queue, right);
      const OnDevice<std::uint32_t> prior_there(device, queue, prior);
      expect_gpu_map_equals_oracle(device, queue, problem.map, oracle, [&](auto d, auto v) {
        seed_check::gpu({prior_there, left_there, right_there, d}, v, queue);
      });
    });
  }
}

// Returns the validity of a measured pixel of random words that agree at the disparity 3.
int validity_of(float disparity, std::uint32_t prior, int noisy_bits = 0) {
  const Size size{60, 9};
  Map map{Image<float>(size, 1, disparity), Image<std::uint8_t>(size, 1, 0)};
  const Image<std::uint64_t> left = random_colours(size, 9);
  Image<std::uint64_t> right = random_colours(size, 10);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 60; ++x)
      if (noisy_bits == 0) right(x, y) = left.view().clamped(x + 3, y);
  seed_check::oracle({Image<std::uint32_t>(size, 1, prior), left, right, map.disparity}, map.validity);
  return map.validity(30, 4);
}

TEST(SeedCheckOracle, OnlyWhatTheImagesShowStaysMeasured) {
  EXPECT_EQ(validity_of(3, 1), 0);
  EXPECT_EQ(validity_of(3.9f, 1), 0);
  EXPECT_EQ(validity_of(6, 1), validity::filled);      // the images agree at 3 and not at 6
  EXPECT_EQ(validity_of(6, 0), 0);                     // no seed reaches the pixel
  EXPECT_EQ(validity_of(3, 1, 64), validity::filled);  // the images agree nowhere
}

}  // namespace
}  // namespace stereopsis::seed_check_test
