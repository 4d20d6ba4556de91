#include "stages/mirrored_seeds/mirrored_seeds.hpp"

#include <cmath>
#include <limits>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::mirrored_seeds_test {
namespace {

using namespace test;
using mirrored_seeds::InputOf;
using mirrored_seeds::OutputOf;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Seeds inside and outside the range, a fifth of them unknown or infinite.
Image<float> random_seeds(Size size, DisparityRange range) {
  Image<float> seeds = random_image<float>(size, 5, 0, 8 * range.count + 64);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int n = static_cast<int>(seeds(x, y));
      const float outside = n % 3 == 0 ? nan : std::numeric_limits<float>::infinity();
      seeds(x, y) = n % 5 == 0 ? outside : static_cast<float>(range.min - 4) + seeds(x, y) / 8;
    }
  return seeds;
}

TEST(MirroredSeeds, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const DisparityRange range : {DisparityRange{0, 16}, DisparityRange{-7, 20}, DisparityRange{3, 1}})
      for (const bool has_trust : {false, true}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", from " << range.min);
        PitchedImage<float> seeds(random_seeds(size, range).view());
        PitchedImage<float> trust(random_image<float>(size, 9, -1, 2).view());
        const mirrored_seeds::Input in{seeds, has_trust ? ImageView<const float>(trust) : ImageView<const float>()};
        Image<float> expected(size), expected_trust(size);
        mirrored_seeds::oracle(in, range, {expected, expected_trust});
        for_each_engine([&](Threads& threads) {
          PitchedImage<float> got(expected.view()), got_trust(expected.view());
          mirrored_seeds::cpu(in, range, {got, got_trust}, threads);
          EXPECT_TRUE(same_bits(got.view(), expected.view()));
          EXPECT_TRUE(same_bits(got_trust.view(), expected_trust.view()));
          EXPECT_TRUE(got.guard_intact() && got_trust.guard_intact());
        });
        for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
          const OnDevice<float> seeds_there(device, queue, seeds), trust_there(device, queue, trust);
          PitchedImage<float> got(expected_trust.view()), got_trust(expected.view());
          OnDevice<float> got_there(device, queue, got), got_trust_there(device, queue, got_trust);
          const gpu::View<const float> given =
              has_trust ? gpu::View<const float>(trust_there) : gpu::View<const float>();
          mirrored_seeds::gpu({seeds_there, given}, range, {got_there, got_trust_there}, queue);
          got_there.download();
          got_trust_there.download();
          EXPECT_TRUE(same_bits(got.view(), expected.view()));
          EXPECT_TRUE(same_bits(got_trust.view(), expected_trust.view()));
        });
      }
  skip_without_gpu();
}

// The pixel 2 of the right image is the match of the pixels 4, 7 and 9 of the left one. The pixel 9 has no trust.
TEST(MirroredSeedsOracle, TheNearestSurfaceHidesTheOthers) {
  Image<float> seeds({12, 1}, 1, nan), trust({12, 1}, 1, 0.5f), mirrored(12, 1), with_trust(12, 1);
  seeds(4, 0) = 2.25f;
  seeds(7, 0) = 4.5f;
  seeds(9, 0) = 7;
  trust(9, 0) = 0;
  mirrored_seeds::oracle({seeds, trust}, {0, 8}, {mirrored, with_trust});
  for (int u = 0; u < 12; ++u) {
    EXPECT_EQ(with_trust(u, 0), u == 2 ? 0.5f : 0) << u;
    EXPECT_EQ(std::isnan(mirrored(u, 0)), u != 2) << u;
  }
  EXPECT_EQ(mirrored(2, 0), -4.5f);
}

}  // namespace
}  // namespace stereopsis::mirrored_seeds_test
