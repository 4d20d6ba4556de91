#include "fused/learned_sum/learned_sum.hpp"

#include "stages/census_gradient/census_gradient.hpp"
#include "stages/cost_volume/cost_volume.hpp"
#include "support/cost_volumes.hpp"

namespace stereopsis::learned_sum_test {
namespace {

using namespace test;

// Returns the result of the composed oracles.
template <class T>
Volume<std::uint8_t> composed(const learned_sum::Parameters& p, std::array<PitchedImage<std::uint8_t>, 2>& grey8,
                              std::array<PitchedImage<T>, 2>& grey, Size size, DisparityRange range) {
  Volume<std::uint8_t> costs(size, range.count), sums(size, range.count);
  learned_features::cost_oracle(p.learned, grey8[0], grey8[1], range.min, costs.view());
  Image<std::uint32_t> left(size), right(size);
  census_gradient::oracle<T>(grey[0], grey8[0], left);
  census_gradient::oracle<T>(grey[1], grey8[1], right);
  cost_volume::oracle(cost::Source<cost::CensusGradient>{left, right, p.plus}, range.min, sums.view());
  sum::oracle(p.sum, costs.view(), sums.view());
  return sums;
}

template <class T>
void expect_cpu_equals_composed(const learned_sum::Parameters& p, T high) {
  for_each_volume([&](Size size, DisparityRange range) {
    const auto image8 = [&](int seed) {
      return PitchedImage<std::uint8_t>(random_image<std::uint8_t>(size, seed, 0, 255).view());
    };
    const auto image = [&](int seed) { return PitchedImage<T>(random_image<T>(size, seed, 0, high).view()); };
    std::array<PitchedImage<std::uint8_t>, 2> grey8{image8(1), image8(2)};
    std::array<PitchedImage<T>, 2> grey{image(3), image(4)};
    const Volume<std::uint8_t> expected = composed(p, grey8, grey, size, range);
    for_each_engine([&](Threads& threads) {
      Scratch scratch(learned_sum::cpu_scratch_bytes(p, size, range.count, threads.count()));
      Volume<std::uint8_t> got = poisoned_volume<std::uint8_t>(size, range.count);
      learned_sum::cpu<T>(p, {grey8[0], grey8[1]}, {grey[0], grey[1]}, range.min, got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected)) << size.width << "x" << size.height << ", " << range.count;
    });
  });
}

template <class T>
void expect_equals_composed(const learned_sum::Parameters& p, T high) {
  expect_cpu_equals_composed<T>(p, high);
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const std::vector<std::int32_t>& words = p.learned.weights.on_gpu();
    const int count = static_cast<int>(words.size());
    const gpu::Buffer weights(device, sizeof(std::int32_t) * words.size());
    queue.upload<std::int32_t>({words.data(), count, 1}, {weights.handle(), 0, count, 1, 1, count});
    const auto expect_equal = [&](Size size, DisparityRange range) {
      const auto image8 = [&](int seed) {
        return PitchedImage<std::uint8_t>(random_image<std::uint8_t>(size, seed, 0, 255).view());
      };
      const auto image = [&](int seed) { return PitchedImage<T>(random_image<T>(size, seed, 0, high).view()); };
      std::array<PitchedImage<std::uint8_t>, 2> grey8{image8(1), image8(2)};
      std::array<PitchedImage<T>, 2> grey{image(3), image(4)};
      const OnDevice<std::uint8_t> left8(device, queue, grey8[0]), right8(device, queue, grey8[1]);
      const OnDevice<T> left(device, queue, grey[0]), right(device, queue, grey[1]);
      const std::size_t bytes = learned_sum::gpu_scratch_bytes(p, size);
      const gpu::Buffer scratch = poisoned(device, queue, bytes);
      VolumeOnDevice<std::uint8_t> got(device, queue, size, range.count);
      learned_sum::gpu<T>(p, {weights.handle(), 0}, {left8, right8}, {left, right}, range.min, got.volume(),
                          {scratch.handle(), 0, bytes}, queue);
      EXPECT_TRUE(same_cells(got.download(), composed(p, grey8, grey, size, range)))
          << size.width << "x" << size.height << ", " << range.count;
    };
    for_each_volume(expect_equal);
    // The tuned kernel takes multiples of 8 disparities from 72 on.
    expect_equal({150, 3}, {-3, 128});
    expect_equal({70, 2}, {5, 72});
    expect_equal({33, 5}, {-90, 144});
  });
}

TEST(LearnedSum, EqualsTheComposedDefinitions) {
  using learned_features::Weights;
  expect_equals_composed<std::uint8_t>({{}, {2, 10}, {64, 26}}, 255);
  expect_equals_composed<std::uint16_t>({{Weights("learned16"), 30}, {8, 63}, {255, 200}}, 4095);
  skip_without_gpu();
}

}  // namespace
}  // namespace stereopsis::learned_sum_test
