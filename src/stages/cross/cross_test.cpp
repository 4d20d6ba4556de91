#include "stages/cross/cross.hpp"

#include "support/devices.hpp"
#include "support/recording_queue.hpp"
#include "support/threads.hpp"

namespace stereopsis::cross_test {
namespace {

using namespace test;

TEST(Cross, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3})
      for (const cross::Parameters& p : {cross::Parameters{},
                                         {.length = 9, .short_length = 3, .colour = 30, .strict_colour = 10},
                                         {.length = 1, .short_length = 0},
                                         // On average, one neighbour in thirty ends an arm.
                                         {.colour = 17, .strict_colour = 4},
                                         {.length = 34, .short_length = 34, .colour = 19},
                                         {.colour = 256, .strict_colour = 256}}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", length " << p.length << ", "
                                        << channels << " channels");
        PitchedImage<std::uint8_t> image(random_image<std::uint8_t>(size, 8, 100, 119, channels).view());
        const auto oracle = [&](auto arms) { cross::oracle(p, image, arms); };
        for_each_thread_count([&](Threads& threads) {
          expect_equals_oracle<std::uint32_t>(size, oracle, [&](auto arms) { cross::cpu(p, image, arms, threads); });
        });
        for (gpu::Device* device : gpu::usable_devices()) {
          SCOPED_TRACE(device->name());
          const auto queue = device->make_queue();
          const OnDevice<std::uint8_t> image_there(*device, *queue, image);
          expect_gpu_equals_oracle<std::uint32_t>(*device, *queue, size, oracle,
                                                  [&](auto arms) { cross::gpu(p, image_there, arms, *queue); });
        }
      }
  if (gpu::usable_devices().empty())
    GTEST_SKIP() << "on the processor alone; no GPU: " << gpu::cuda_devices().reason << "; "
                 << gpu::opencl_devices().reason;
}

// If there are many tiles, the tuned kernel uses another tile height. There are many tiles here, but not for the sizes
// above.
TEST(CrossGpu, EqualsOracleInLargeImages) {
  const Size size{66, 4219};
  for (const int channels : {1, 3}) {
    PitchedImage<std::uint8_t> image(random_image<std::uint8_t>(size, 8, 100, 119, channels).view());
    for (const cross::Parameters& p : {cross::Parameters{}, {.colour = 17, .strict_colour = 4}})
      for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        const OnDevice<std::uint8_t> image_there(device, queue, image);
        expect_gpu_equals_oracle<std::uint32_t>(
            device, queue, size, [&](auto arms) { cross::oracle(p, image, arms); },
            [&](auto arms) { cross::gpu(p, image_there, arms, queue); });
      });
  }
}

cross::Arms arms_at(const std::vector<std::uint8_t>& greys, int x, const cross::Parameters& p) {
  Image<std::uint8_t> image(static_cast<int>(greys.size()), 1);
  std::copy(greys.begin(), greys.end(), image.row(0));
  Image<std::uint32_t> arms(image.size());
  cross::oracle(p, image, arms);
  return cross::arms_of(arms(x, 0));
}

TEST(CrossOracle, ArmsEndAtOtherColours) {
  const cross::Parameters p{.length = 8, .short_length = 8};
  const cross::Arms arms = arms_at({90, 50, 55, 60, 69, 70, 60}, 3, p);
  EXPECT_EQ(arms.left, 2);   // 90 differs too much from 60 and from 50
  EXPECT_EQ(arms.right, 3);  // the arm reaches the border
  EXPECT_EQ(arms.up + arms.down, 0);
  EXPECT_EQ(arms_at({60, 75, 80}, 0, p).right, 1);  // 80 differs by 20
  EXPECT_EQ(arms_at({60, 45, 75}, 0, p).right, 1);  // 75 differs by 30 from the previous pixel
}

TEST(CrossOracle, ArmsAreShorterThanTheLength) {
  const std::vector<std::uint8_t> plain(40, 50);
  EXPECT_EQ(arms_at(plain, 0, {.length = 9, .short_length = 4}).right, 8);
  EXPECT_EQ(arms_at(plain, 0, {.length = 1, .short_length = 0}).right, 0);
}

TEST(CrossOracle, ColoursMustBeCloserBeyondTheShortLength) {
  std::vector<std::uint8_t> greys(20, 50);
  for (int x = 1; x < 20; ++x) greys[x] = 58;
  EXPECT_EQ(arms_at(greys, 0, {.length = 15, .short_length = 5}).right, 5);
  EXPECT_EQ(arms_at(greys, 0, {.length = 15, .short_length = 5, .strict_colour = 9}).right, 14);
}

TEST(CrossParameters, BadOnesAreRefused) {
  const Size size{60, 50};
  EXPECT_THROW(cross::check({.length = 10, .short_length = 11}, size), Error);
  EXPECT_THROW(cross::check({.colour = 5}, size), Error);  // the value is below strict_colour
  EXPECT_THROW(cross::check({.length = 61}, size), Error);
  EXPECT_NO_THROW(cross::check({.length = 60}, size));
  EXPECT_NO_THROW(cross::check({}, {3, 2}));  // arms of the default length end at the border
  EXPECT_THROW(check_ranges("cross", cross::Parameters{.length = 129}), Error);
}

}  // namespace
}  // namespace stereopsis::cross_test
