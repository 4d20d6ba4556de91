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
    for (const bool is_second : {false, true}) {
      Map first_map = random_map(size, 5, -3, 12, 10);
      PitchedImage<float> first(first_map.disparity.view());
      PitchedImage<std::uint8_t> first_validity(first_map.validity.view());
      const auto in = [&](auto d) {
        seed_check::Input made{prior, left, right, d};
        if (is_second) made.first_disparity = first, made.first_validity = first_validity;
        return made;
      };
      const auto oracle = [&](auto d, auto v) { seed_check::oracle(in(d), v); };
      for_each_thread_count([&](Threads& threads) {
        expect_map_equals_oracle(problem.map, oracle, [&](auto d, auto v) { seed_check::cpu(in(d), v, threads); });
      });
      for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        const OnDevice<std::uint64_t> left_there(device, queue, left), right_there(device, queue, right);
        const OnDevice<std::uint32_t> prior_there(device, queue, prior);
        const OnDevice<float> first_there(device, queue, first);
        const OnDevice<std::uint8_t> first_validity_there(device, queue, first_validity);
        expect_gpu_map_equals_oracle(device, queue, problem.map, oracle, [&](auto d, auto v) {
          seed_check::InputOf<gpu::View> made{prior_there, left_there, right_there, d};
          if (is_second) made.first_disparity = first_there, made.first_validity = first_validity_there;
          seed_check::gpu(made, v, queue);
        });
      });
    }
  }
}

// Returns the validity of a measured pixel of random words that agree at the disparity 3. A first pass, if there is one,
// has the disparity 6.
int validity_of(float disparity, std::uint32_t prior, int noisy_bits = 0, int first_validity = -1) {
  const Size size{60, 9};
  Map map{Image<float>(size, 1, disparity), Image<std::uint8_t>(size, 1, 0)};
  const Image<std::uint64_t> left = random_colours(size, 9);
  Image<std::uint64_t> right = random_colours(size, 10);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 60; ++x)
      if (noisy_bits == 0) right(x, y) = left.view().clamped(x + 3, y);
  const Image<std::uint32_t> priors(size, 1, prior);
  const Image<float> first(size, 1, 6);
  const Image<std::uint8_t> validity(size, 1, static_cast<std::uint8_t>(first_validity));
  seed_check::Input in{priors, left, right, map.disparity};
  if (first_validity >= 0) in.first_disparity = first, in.first_validity = validity;
  seed_check::oracle(in, map.validity);
  return map.validity(30, 4);
}

TEST(SeedCheckOracle, WhatTheFirstPassMeasuredStaysMeasured) {
  EXPECT_EQ(validity_of(6.5f, 1, 0, 0), 0);
  EXPECT_EQ(validity_of(7.5f, 1, 0, 0), validity::filled);
  EXPECT_EQ(validity_of(6.5f, 1, 0, validity::filled), validity::filled);
  EXPECT_EQ(validity_of(3, 1, 0, 0), 0);  // the images agree
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
