#include "stages/prior/prior.hpp"

#include <limits>

#include "support/cost_volumes.hpp"
#include "support/devices.hpp"
#include "support/targets.hpp"

namespace stereopsis::prior_test {
namespace {

using namespace test;

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

// Seeds on two planes, a fifth of them wrong, at one of `every` pixels, with trust and a grey image.
struct Problem {
  Problem(Size size, unsigned every, unsigned seed)
      : seeds(size), trust(size), grey8(random_image<std::uint8_t>(size, seed, 90, 110)) {
    std::mt19937 dice(seed);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const float plane =
            x < size.width / 2 ? 3 + 0.11f * static_cast<float>(x) - 0.07f * static_cast<float>(y) : 9.5f;
        const float value = dice() % 5 == 0 ? static_cast<float>(dice() % 50) - 8 : plane;
        seeds(x, y) = dice() % every == 0 ? value : unknown;
        trust(x, y) = static_cast<float>(dice() % 140) / 100 - 0.2f;
      }
    if (size.width > 20) {
      seeds(7, 0) = std::numeric_limits<float>::infinity();
      seeds(8, 0) = -1e30f;
      trust(9, 0) = unknown;
    }
  }

  Image<float> seeds, trust;
  Image<std::uint8_t> grey8;
};

void expect_all_equal_oracle(const Problem& problem, const prior::Parameters& p, DisparityRange range, bool trusts) {
  const Size size = problem.seeds.size();
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", reach " << p.reach << ", trust " << trusts);
  PitchedImage<float> seeds(problem.seeds.view()), trust(problem.trust.view());
  PitchedImage<std::uint8_t> grey8(problem.grey8.view());
  const ImageView<const float> no_trust = {};
  const prior::Input in{seeds, trusts ? ImageView<const float>(trust) : no_trust, grey8};
  const auto oracle = [&](auto out) { prior::oracle(p, in, range, out); };
  for_each_thread_count([&](Threads& threads) {
    Scratch scratch(prior::scratch_bytes(size));
    expect_equals_oracle<std::uint32_t>(size, oracle,
                                        [&](auto out) { prior::cpu(p, in, range, out, scratch.span(), threads); });
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<float> seeds_there(device, queue, seeds), trust_there(device, queue, trust);
    const OnDevice<std::uint8_t> grey_there(device, queue, grey8);
    const gpu::Buffer scratch = poisoned(device, queue, prior::gpu_scratch_bytes(size));
    const prior::InputOf<gpu::View> there{
        seeds_there, trusts ? gpu::View<const float>(trust_there.view()) : gpu::View<const float>{}, grey_there};
    expect_gpu_equals_oracle<std::uint32_t>(device, queue, size, oracle, [&](auto out) {
      prior::gpu(p, there, range, out, {scratch.handle(), 0, prior::gpu_scratch_bytes(size)}, queue);
    });
  });
}

TEST(Prior, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const unsigned every : {1u, 3u, 30u, 400u})
      for (const bool trusts : {false, true}) expect_all_equal_oracle(Problem(size, every, 5), {}, {-3, 40}, trusts);
  for (const prior::Parameters& p : {prior::Parameters{.reach = 0},
                                     {.reach = 3, .contrast = 0, .similar = 255},
                                     {.contrast = 255, .similar = 0, .tolerance = 16}})
    expect_all_equal_oracle(Problem({131, 37}, 20, 6), p, {0, 64}, true);
  skip_without_gpu();
}

Image<std::uint32_t> spread(const Image<float>& seeds, const Image<std::uint8_t>& grey8, prior::Parameters p = {},
                            DisparityRange range = {0, 64}) {
  Image<std::uint32_t> out(seeds.size());
  prior::oracle(p, {seeds, {}, grey8}, range, out);
  return out;
}

TEST(PriorOracle, ASeedAloneSpreadsOverEqualColours) {
  Image<float> seeds({41, 41}, 1, unknown);
  Image<std::uint8_t> grey8({41, 41}, 1, 100);
  seeds(20, 20) = 10.25f;
  for (int y = 0; y < 41; ++y) grey8(24, y) = 200;
  const Image<std::uint32_t> out = spread(seeds, grey8);
  EXPECT_EQ(out(20, 20) >> 8, 164u);   // in sixteenths of a pixel
  EXPECT_EQ(out(20, 20) & 255, 255u);  // the window has no other seed, so the weight is full
  EXPECT_EQ(out(23, 20) >> 8, 164u);
  EXPECT_EQ(out(23, 20) & 255, 255u * (432 - 2 * 48) / 432);
  EXPECT_EQ(out(24, 20), 0u);  // another colour
  EXPECT_EQ(out(11, 20) & 255, 255u * (432 - 2 * 144) / 432);
  EXPECT_EQ(out(10, 20), 0u);  // beyond the reach of 9 pixels
}

TEST(PriorOracle, SeedsOfAPlaneContinueIt) {
  Image<float> seeds({60, 60}, 1, unknown);
  const Image<std::uint8_t> grey8({60, 60}, 1, 100);
  for (int y = 2; y < 60; y += 8)
    for (int x = 2; x < 60; x += 8) seeds(x, y) = 5 + 0.25f * static_cast<float>(x);
  const Image<std::uint32_t> out = spread(seeds, grey8);
  EXPECT_EQ(out(26, 26) >> 8, 16u * 11 + 8);
  EXPECT_EQ(out(29, 26) >> 8, 16u * 12 + 4);  // three pixels to the right: 0.75 more
}

TEST(PriorOracle, ASeedThatItsNeighboursContradictWeighsLess) {
  Image<float> seeds({60, 60}, 1, unknown);
  const Image<std::uint8_t> grey8({60, 60}, 1, 100);
  for (int y = 2; y < 60; y += 5)
    for (int x = 2; x < 60; x += 5) seeds(x, y) = 20;
  seeds(32, 32) = 50;
  const Image<std::uint32_t> out = spread(seeds, grey8);
  EXPECT_LT(4 * (out(32, 32) & 255), out(27, 27) & 255);
}

TEST(PriorOracle, DenseSeedsKeepToTheirPixelsAndWeighLittle) {
  Image<float> seeds({60, 60}, 1, 20);
  seeds(30, 30) = unknown;
  const Image<std::uint32_t> out = spread(seeds, Image<std::uint8_t>({60, 60}, 1, 100));
  EXPECT_EQ(out(30, 30), 0u);
  EXPECT_EQ(out(29, 30) & 255, 255u * 16 / 128);
}

TEST(PriorOracle, SeedsOutsideTheRangeAreUnknown) {
  Image<float> seeds({9, 9}, 1, unknown);
  seeds(4, 4) = 63.5f;
  seeds(0, 0) = -1;
  const Image<std::uint32_t> out = spread(seeds, Image<std::uint8_t>({9, 9}, 1, 100));
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 9; ++x) EXPECT_EQ(out(x, y), 0u);
}

}  // namespace
}  // namespace stereopsis::prior_test
