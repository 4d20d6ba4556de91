#include "stages/asw_separable/asw_separable.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::asw_separable_test {
namespace {

using namespace test;

constexpr std::uint32_t dim = 0x7F << 2 | 0x1F << 12 | 0x1F << 22;  // words with similar colours

TEST(AswSeparable, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const int window : {1, 5, 33, 63})
      for (const int disparities : {1, 7, 37}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", window "
                                        << window);
        const asw_separable::Parameters p{.window = window};
        PitchedImage<std::uint32_t> lab(random_words(size, 1, dim).view());
        const auto costs = random_volume<std::uint8_t>(size, disparities, 3, 0, 255);
        Volume<std::uint16_t> expected(size, disparities);
        asw_separable::oracle(p, lab, costs, expected);
        for_each_engine([&](Threads& threads) {
          auto got = poisoned_volume<std::uint16_t>(size, disparities),
               horizontal = poisoned_volume<std::uint16_t>(size, disparities);
          Scratch scratch(asw_separable::scratch_bytes(p, size.width, threads.count()));
          asw_separable::cpu(p, lab, costs, horizontal, got, scratch.span(), threads);
          EXPECT_TRUE(same_cells(got, expected));
        });
      }
}

TEST(AswSeparable, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int window : {1, 5, 33, 63})
        for (const int disparities : {1, 7, 16}) {
          SCOPED_TRACE(testing::Message()
                       << size.width << "x" << size.height << "x" << disparities << ", window " << window);
          const asw_separable::Parameters p{.window = window};
          PitchedImage<std::uint32_t> lab(random_words(size, 1, dim).view());
          const auto costs = random_volume<std::uint8_t>(size, disparities, 3, 0, 255);
          Volume<std::uint16_t> expected(size, disparities);
          asw_separable::oracle(p, lab, costs, expected);
          const OnDevice<std::uint32_t> lab_there(device, queue, lab);
          const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs);
          VolumeOnDevice<std::uint16_t> horizontal(device, queue, size, disparities),
              got(device, queue, size, disparities);
          gpu::Buffer weights = poisoned(device, queue, asw_separable::gpu_weights_bytes(p, size));
          asw_separable::gpu(p, lab_there, costs_there.volume(), horizontal.volume(), got.volume(), weights.span(),
                             queue);
          EXPECT_TRUE(same_cells<std::uint16_t>(got.download(), expected));
        }
  });
}

TEST(AswSeparableOracle, ARowAndThenAColumn) {
  const Size size{3, 3};
  Image<std::uint32_t> lab(size, 1, 200 | 512 << 10 | 512 << 20);
  Volume<std::uint8_t> costs(size, 1);
  for (int i = 0; i < 9; ++i) costs(i % 3, i / 3, 0) = static_cast<std::uint8_t>(i);
  Volume<std::uint16_t> aggregated(size, 1);
  const asw_separable::Parameters p{.window = 3, .gamma_distance = 1000};
  asw_separable::oracle(p, lab, costs, aggregated);
  EXPECT_EQ(aggregated(1, 1, 0), 128 * 4);
  EXPECT_EQ(aggregated(0, 1, 0), (128 * (3 + 3 + 4) + 1) / 3);
}

TEST(AswSeparableParameters, WindowsBeyond63AreRefused) {
  EXPECT_THROW(check_ranges("asw_separable", asw_separable::Parameters{.window = 65}), Error);
  EXPECT_NO_THROW(check_ranges("asw_separable", asw_separable::Parameters{.window = 63}));
}

}  // namespace
}  // namespace stereopsis::asw_separable_test
