#include "stages/measured_confidence/measured_confidence.hpp"

#include <random>

#include "support/cost_volumes.hpp"

namespace stereopsis::measured_confidence_test {
namespace {

using namespace test;

Image<std::uint8_t> random_validity(Size size) {
  std::mt19937 dice(7);
  Image<std::uint8_t> validity(size.width, size.height);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      validity(x, y) = dice() % 2 == 0 ? 0 : static_cast<std::uint8_t>(1u << dice() % 8);
  return validity;
}

Image<float> random_confidence(Size size) {
  std::mt19937 dice(8);
  Image<float> confidence(size.width, size.height);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) confidence(x, y) = static_cast<float>(dice() % 257) / 256;
  return confidence;
}

void copy(ImageView<const float> from, ImageView<float> to) {
  for (int y = 0; y < to.height; ++y) std::copy_n(from.row(y), to.width, to.row(y));
}

TEST(MeasuredConfidence, DevicesEqualOracle) {
  for (const Size size : awkward_sizes) {
    PitchedImage<std::uint8_t> validity(random_validity(size).view());
    const Image<float> given = random_confidence(size);
    const auto oracle = [&](auto confidence) {
      copy(given, confidence);
      measured_confidence::oracle(validity, confidence);
    };
    for_each_thread_count([&](Threads& threads) {
      expect_equals_oracle<float>(size, oracle, [&](auto confidence) {
        copy(given, confidence);
        measured_confidence::cpu(validity, confidence, threads);
      });
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const OnDevice<std::uint8_t> validity_there(device, queue, validity);
      expect_gpu_equals_oracle<float>(device, queue, size, oracle, [&](auto confidence) {
        queue.upload<float>(given.view(), confidence);
        measured_confidence::gpu(validity_there, confidence, queue);
      });
    });
  }
  skip_without_gpu();
}

TEST(MeasuredConfidenceOracle, KeepsTheConfidenceOfMeasuredPixelsOnly) {
  Image<std::uint8_t> validity(4, 1);
  Image<float> confidence(4, 1);
  const std::uint8_t reasons[] = {0, validity::left_right, validity::filled, validity::repaired};
  std::copy_n(reasons, 4, validity.row(0));
  std::fill_n(confidence.row(0), 4, 0.75f);
  measured_confidence::oracle(validity, confidence);
  EXPECT_EQ(std::vector<float>(confidence.row(0), confidence.row(0) + 4), (std::vector<float>{0.75f, 0, 0, 0}));
}

}  // namespace
}  // namespace stereopsis::measured_confidence_test
