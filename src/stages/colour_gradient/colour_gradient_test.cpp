#include "stages/colour_gradient/colour_gradient.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/threads.hpp"

namespace stereopsis::colour_gradient_test {
namespace {

using namespace test;

TEST(ColourGradient, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << channels << " channels");
      PitchedImage<std::uint8_t> image(random_image<std::uint8_t>(size, 1, 0, 255, channels).view());
      PitchedImage<std::uint8_t> grey(random_image<std::uint8_t>(size, 2, 0, 255).view());
      const auto oracle = [&](auto out) { colour_gradient::oracle(image, grey, out); };
      for_each_thread_count([&](Threads& threads) {
        expect_equals_oracle<std::uint64_t>(size, oracle,
                                            [&](auto out) { colour_gradient::cpu(image, grey, out, threads); });
      });
      for (gpu::Device* device : gpu::usable_devices()) {
        SCOPED_TRACE(device->name());
        const auto queue = device->make_queue();
        const OnDevice<std::uint8_t> image_there(*device, *queue, image), grey_there(*device, *queue, grey);
        expect_gpu_equals_oracle<std::uint64_t>(*device, *queue, size, oracle, [&](auto out) {
          colour_gradient::gpu(image_there, grey_there, out, *queue);
        });
      }
    }
}

double cost_of(const colour_gradient::Parameters& p, std::uint64_t a, std::uint64_t b) {
  return colour_gradient::kind(p)(a, b);
}

// Costs are in units of 1/255 of (1 − α) τ1 + α τ2.
TEST(ColourGradientCost, IsTheTruncatedSumOfThePaper) {
  const auto word = [](int grey, int twice_gradient) {
    return colour_gradient::word_of(grey, grey, grey, twice_gradient);
  };
  const colour_gradient::Parameters p{.alpha = 0.89, .colour_limit = 7, .gradient_limit = 2};
  const double unit = 255 / (0.11 * 7 + 0.89 * 2);
  EXPECT_EQ(cost_of(p, word(90, 3), word(90, 3)), 0);
  EXPECT_NEAR(cost_of(p, word(90, 0), word(93, 0)), 0.11 * 3 * unit, 0.5);
  EXPECT_NEAR(cost_of(p, word(90, 0), word(90, -3)), 0.89 * 1.5 * unit, 0.5);
  EXPECT_NEAR(cost_of(p, word(90, 1), word(95, 3)), (0.11 * 5 + 0.89) * unit, 0.5);
  EXPECT_NEAR(cost_of(p, word(0, 0), word(255, 0)), 0.11 * 7 * unit, 0.5);
  EXPECT_EQ(cost_of(p, word(0, -255), word(255, 255)), 255);
  EXPECT_NEAR(cost_of(p, colour_gradient::word_of(10, 20, 30, 0), colour_gradient::word_of(11, 18, 30, 0)), 0.11 * unit,
              0.5);
}

TEST(ColourGradientCost, TheBorderIsAConstantWhereOneIsGiven) {
  Image<std::uint64_t> left(3, 1), right(3, 1);
  for (int x = 0; x < 3; ++x) left(x, 0) = right(x, 0) = colour_gradient::word_of(3, 3, 3, 0);
  const cost::Source<cost::ColourGradient> replicated{left, right, colour_gradient::kind({})};
  const cost::Source<cost::ColourGradient> constant{left, right, colour_gradient::kind({.border = 3})};
  EXPECT_EQ(cost::evaluate(replicated, 0, 0, 1), 0);
  EXPECT_GT(cost::evaluate(constant, 0, 0, 1), 100);  // the gradient is truncated
  EXPECT_GT(cost::evaluate(constant, 2, 0, -1), 100);
  EXPECT_EQ(cost::evaluate(constant, 2, 0, 1), 0);
}

}  // namespace
}  // namespace stereopsis::colour_gradient_test
