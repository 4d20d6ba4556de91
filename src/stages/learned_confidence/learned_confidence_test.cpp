#include "stages/learned_confidence/learned_confidence.hpp"

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::learned_confidence_test {
namespace {

using namespace test;

struct Problem {
  test::Map map;
  Image<std::uint8_t> left, right;
};

// A map of a few smooth surfaces, so that pixels agree with their neighbours, with invalid and filled pixels.
Problem random_problem(Size size, int low, int high, int invalid_percent) {
  Problem p{random_map(size, 8, low, high, invalid_percent), random_image<std::uint8_t>(size, 3, 90, 150),
            random_image<std::uint8_t>(size, 4, 90, 150)};
  std::mt19937 dice(5);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      float& d = p.map.disparity(x, y);
      if (d == d && dice() % 4 != 0) d = static_cast<float>(low + (x / 16 + y / 8) % (high - low + 1)) + 0.25f;
      if (d == d && dice() % 5 == 0) p.map.validity(x, y) = validity::filled;
    }
  return p;
}

void expect_all_equal_oracle(const Problem& problem) {
  const Size size = problem.left.size();
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
  Image<float> expected(size);
  learned_confidence::oracle({problem.map.disparity, problem.map.validity, problem.left, problem.right}, expected);
  PitchedImage<float> disparity(problem.map.disparity.view());
  PitchedImage<std::uint8_t> validity(problem.map.validity.view()), left(problem.left.view()),
      right(problem.right.view());
  const auto expect_same = [&](PitchedImage<float>& got) {
    EXPECT_TRUE(same_bits(got.view(), expected));
    EXPECT_TRUE(got.guard_intact());
  };
  for_each_engine([&](Threads& threads) {
    PitchedImage<float> got(size);
    const std::size_t bytes = learned_confidence::scratch_bytes(size, threads.count());
    Image<std::uint8_t> scratch(static_cast<int>(bytes), 1, 1);
    scratch.fill(0xA5);
    learned_confidence::cpu({disparity, validity, left, right}, got,
                            std::as_writable_bytes(std::span(scratch.row(0), scratch.width())), threads);
    expect_same(got);
  });
  for (gpu::Device* device : gpu::usable_devices()) {
    SCOPED_TRACE(device->name());
    const auto queue = device->make_queue();
    const OnDevice<float> disparity_there(*device, *queue, disparity);
    const OnDevice<std::uint8_t> validity_there(*device, *queue, validity), left_there(*device, *queue, left),
        right_there(*device, *queue, right);
    const std::span<const std::int32_t> words = learned_confidence::gpu_words();
    const int count = static_cast<int>(words.size());
    const gpu::Buffer words_there(*device, words.size_bytes());
    queue->upload<std::int32_t>({words.data(), count, 1}, {words_there.handle(), 0, count, 1, 1, count});
    const gpu::Buffer scratch = poisoned(*device, *queue, learned_confidence::gpu_scratch_bytes(size));
    for (int run = 0; run < 2; ++run) {
      PitchedImage<float> got(size);
      OnDevice<float> confidence_there(*device, *queue, got);
      learned_confidence::gpu({disparity_there, validity_there, left_there, right_there}, {words_there.handle(), 0},
                              confidence_there, scratch.span(), *queue);
      confidence_there.download();
      expect_same(got);
    }
  }
}

TEST(LearnedConfidenceStage, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int invalid_percent : {0, 30, 100})
      if (size.width * size.height < 6000) expect_all_equal_oracle(random_problem(size, -3, 30, invalid_percent));
  expect_all_equal_oracle(random_problem({149, 67}, 0, 60, 10));
  expect_all_equal_oracle(random_problem({64, 48}, -20, 5, 10));
  expect_all_equal_oracle(random_problem({331, 9}, 0, 60, 0));
  if (gpu::usable_devices().empty())
    GTEST_SKIP() << "no GPU: " << gpu::cuda_devices().reason << "; " << gpu::opencl_devices().reason;
}

TEST(LearnedConfidenceStage, DisparitiesThatAreTooLargeAreInvalid) {
  Problem problem = random_problem({24, 17}, 0, 8, 0);
  for (const float d : {32768.0f, -32768.0f, 1e30f, -1e30f, 32767.5f, -32767.5f})
    problem.map.disparity(static_cast<int>(std::abs(d)) % 7 + 3, d < 0 ? 4 : 9) = d;
  problem.map.disparity(12, 12) = 1e30f;
  expect_all_equal_oracle(problem);
  Image<float> confidence(24, 17);
  learned_confidence::oracle({problem.map.disparity, problem.map.validity, problem.left, problem.right}, confidence);
  EXPECT_EQ(confidence(12, 12), 0);
}

// Equal pictures with a smooth map, so that all pixels agree. In a map of noise, no pixels agree.
TEST(LearnedConfidenceOracle, IsHighForASmoothMapThatFitsAndLowForNoise) {
  const Size size{96, 64};
  const Image<std::uint8_t> left = random_image<std::uint8_t>(size, 3, 0, 255);
  Image<std::uint8_t> right(size), validity(size);
  Image<float> smooth(size), noise = random_map(size, 9, 0, 40, 0).disparity, confidence(size);
  validity.fill(0), smooth.fill(4);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) right(x, y) = left.view().clamped(x + 4, y);
  learned_confidence::oracle({smooth, validity, left, right}, confidence);
  EXPECT_GT(confidence(48, 32), 0.97f);
  learned_confidence::oracle({noise, validity, left, right}, confidence);
  EXPECT_LT(confidence(48, 32), 0.5f);
}

TEST(LearnedConfidenceNetwork, HasAMonotoneTableOfProbabilities) {
  using namespace learned_confidence;
  const Network& n = network();
  EXPECT_TRUE(std::ranges::is_sorted(n.probability));
  EXPECT_GE(n.probability.front(), 0);
  EXPECT_LE(n.probability.back(), 1);
  EXPECT_EQ(n.convolutions.size(), 8u);
  EXPECT_EQ(gpu_words().size(), static_cast<std::size_t>(first_words + 7 * words_of(channels, channels) +
                                                         words_of(channels, logits) + 255));
}

}  // namespace
}  // namespace stereopsis::learned_confidence_test
