#include "stages/volume/volume.hpp"

#include <random>

#include "support/cost_volumes.hpp"

namespace stereopsis::volume_test {
namespace {

using namespace test;

template <class T>
constexpr T no_candidate = std::is_same_v<T, float> ? std::numeric_limits<T>::infinity() : static_cast<T>(65535);

// Half of the pixels have no candidate, and the others have at least one.
template <class T>
Volume<T> volume_with_holes(Size size, int disparities) {
  std::mt19937 dice(3);
  Volume<T> volume(size, disparities);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      for (int d = 0; d < disparities; ++d) volume(x, y, d) = no_candidate<T>;
      if constexpr (std::is_same_v<T, float>) volume(x, y, 0) = std::numeric_limits<float>::quiet_NaN();
      if (dice() % 2 == 0) volume(x, y, static_cast<int>(dice() % static_cast<unsigned>(disparities))) = static_cast<T>(dice() % 100);
    }
  return volume;
}

Image<std::uint8_t> random_image(Size size, std::vector<std::uint8_t> values, unsigned seed) {
  std::mt19937 dice(seed);
  Image<std::uint8_t> image(size.width, size.height);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) = values[dice() % values.size()];
  return image;
}

template <class T>
void expect_candidates_equal_oracle() {
  for_each_volume([](Size size, DisparityRange range) {
    const Volume<T> costs = volume_with_holes<T>(size, range.count);
    PitchedImage<std::uint8_t> mask(random_image(size, {0, 255}, 4).view());
    const auto oracle = [&](auto candidates) { volume::candidates_oracle<T>(costs.view(), mask, candidates); };
    for_each_thread_count([&](Threads& threads) {
      expect_equals_oracle<std::uint8_t>(size, oracle, [&](auto candidates) {
        volume::candidates_cpu<T>(costs.view(), mask, candidates, threads);
      });
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const VolumeOnDevice<T> costs_there(device, queue, costs.view());
      const OnDevice<std::uint8_t> mask_there(device, queue, mask);
      expect_gpu_equals_oracle<std::uint8_t>(device, queue, size, oracle, [&](auto candidates) {
        volume::candidates_gpu<T>(costs_there.volume(), mask_there, candidates, queue);
      });
    });
  });
  skip_without_gpu();
}

TEST(Volume, CandidatesOfU16EqualOracle) { expect_candidates_equal_oracle<std::uint16_t>(); }
TEST(Volume, CandidatesOfF32EqualOracle) { expect_candidates_equal_oracle<float>(); }

TEST(Volume, HolesEqualOracle) {
  for (const Size size : awkward_sizes) {
    PitchedImage<std::uint8_t> mask(random_image(size, {0, 255}, 5).view());
    const Image<std::uint8_t> given =
        random_image(size, {0, validity::masked, validity::ambiguous, validity::no_candidate}, 6);
    const auto start = [&](ImageView<std::uint8_t> validity) {
      for (int y = 0; y < size.height; ++y) std::copy_n(given.row(y), size.width, validity.row(y));
    };
    const auto oracle = [&](auto validity) { start(validity), volume::holes_oracle(mask, validity); };
    for_each_thread_count([&](Threads& threads) {
      expect_equals_oracle<std::uint8_t>(
          size, oracle, [&](auto validity) { start(validity), volume::holes_cpu(mask, validity, threads); });
    });
    for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const OnDevice<std::uint8_t> mask_there(device, queue, mask);
      expect_gpu_equals_oracle<std::uint8_t>(device, queue, size, oracle, [&](auto validity) {
        queue.upload<std::uint8_t>(given.view(), validity);
        volume::holes_gpu(mask_there, validity, queue);
      });
    });
  }
  skip_without_gpu();
}

TEST(VolumeOracle, InfinityNanAnd65535AreNoCandidates) {
  Volume<float> costs({4, 1}, 1);
  const float values[] = {INFINITY, std::numeric_limits<float>::quiet_NaN(), 0, -INFINITY};
  std::copy_n(values, 4, costs.view().data);
  Image<std::uint8_t> candidates(4, 1);
  volume::candidates_oracle<float>(costs.view(), {}, candidates);
  EXPECT_EQ(std::vector<int>(candidates.row(0), candidates.row(0) + 4), (std::vector{0, 0, 255, 255}));
  EXPECT_FALSE(volume::is_candidate(std::uint16_t{65535}));
  EXPECT_TRUE(volume::is_candidate(std::uint16_t{65534}));
}

}  // namespace
}  // namespace stereopsis::volume_test
