#include "stages/asw/asw.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::asw_test {
namespace {

using namespace test;

constexpr std::uint32_t dim = 0x7F << 2 | 0x1F << 12 | 0x1F << 22;  // words with similar colours
constexpr std::pair<asw::Area, int> windows[] = {{asw::Area::square, 1},  {asw::Area::square, 7},
                                                 {asw::Area::square, 17}, {asw::Area::column, 1},
                                                 {asw::Area::column, 7},  {asw::Area::column, 63}};

TEST(Asw, CpuEqualsOracle) {
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{17, 6}, Size{67, 3}})
    for (const auto& [area, window] : windows)
      for (const int disparities : {1, 7, 70}) {
        if (area == asw::Area::square && window > 7 && disparities > 7) continue;  // the oracle would take minutes
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", window "
                                        << window);
        const asw::Parameters p{.area = area, .window = window};
        PitchedImage<std::uint32_t> left(random_words(size, 1, dim).view()), right(random_words(size, 2, dim).view());
        const auto costs = random_volume<std::uint8_t>(size, disparities, 3, 0, 255);
        Volume<std::uint16_t> expected(size, disparities);
        for (const int min_disparity : {-2, 5}) {
          asw::oracle(p, left, right, min_disparity, costs, expected);
          for_each_engine([&](Threads& threads) {
            Scratch scratch(asw::scratch_bytes(p, size.width, disparities, threads.count()));
            auto got = poisoned_volume<std::uint16_t>(size, disparities);
            asw::cpu(p, left, right, min_disparity, costs, got, scratch.span(), threads);
            EXPECT_TRUE(same_cells(got, expected));
          });
        }
      }
}

TEST(Asw, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{17, 6}, Size{67, 3}})
      for (const auto& [area, window] : windows)
        for (const int disparities : {1, 7, 70}) {
          if (area == asw::Area::square && window > 7 && disparities > 7) continue;  // the oracle would take minutes
          SCOPED_TRACE(testing::Message()
                       << size.width << "x" << size.height << "x" << disparities << ", window " << window);
          const asw::Parameters p{.area = area, .window = window};
          PitchedImage<std::uint32_t> left(random_words(size, 1, dim).view()), right(random_words(size, 2, dim).view());
          const auto costs = random_volume<std::uint8_t>(size, disparities, 3, 0, 255);
          Volume<std::uint16_t> expected(size, disparities);
          asw::oracle(p, left, right, -2, costs, expected);
          const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right);
          const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs);
          VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities);
          asw::gpu(p, left_there, right_there, -2, costs_there.volume(), got.volume(), queue);
          EXPECT_TRUE(same_cells<std::uint16_t>(got.download(), expected));
        }
  });
}

TEST(AswOracle, LikePixelsOfBothViewsCount) {
  const Size size{5, 1};
  Image<std::uint32_t> left(size), right(size);
  Volume<std::uint8_t> costs(size, 1);
  const std::uint32_t dark = 40 | 512 << 10 | 512 << 20, bright = 380 | 512 << 10 | 512 << 20;
  for (int x = 0; x < 5; ++x) {
    left(x, 0) = x < 3 ? dark : bright;
    right(x, 0) = x < 2 ? dark : bright;
    costs(x, 0, 0) = static_cast<std::uint8_t>(10 * x);
  }
  Volume<std::uint16_t> aggregated(size, 1);
  asw::oracle({.window = 3, .gamma_colour = 1, .gamma_distance = 1000}, left, right, 0, costs, aggregated);
  EXPECT_EQ(aggregated(0, 0, 0), (128 * (0 + 0 + 10) + 1) / 3);  // the pixel at the border counts twice
  EXPECT_EQ(aggregated(1, 0, 0), 128 * 5);                       // pixel 2 has another colour in the right view
  EXPECT_EQ(aggregated(2, 0, 0), 128 * 20);  // in one of the views, each neighbour has another colour
  EXPECT_EQ(aggregated(4, 0, 0), (128 * (30 + 40 + 40) + 1) / 3);
}

TEST(AswOracle, AColumnTakesThePixelsAboveAndBelowAlone) {
  const Size size{3, 3};
  Image<std::uint32_t> lab(size);
  Volume<std::uint8_t> costs(size, 1);
  for (int i = 0; i < 9; ++i) {
    lab(i % 3, i / 3) = 200 | 512 << 10 | 512 << 20;
    costs(i % 3, i / 3, 0) = static_cast<std::uint8_t>(i * i);
  }
  Volume<std::uint16_t> aggregated(size, 1);
  asw::oracle({.area = asw::Area::column, .window = 3, .gamma_distance = 1000}, lab, lab, 0, costs, aggregated);
  EXPECT_EQ(aggregated(1, 1, 0), 128 * (1 + 16 + 49) / 3);
  EXPECT_EQ(aggregated(0, 2, 0), 128 * (9 + 36 + 36) / 3);
}

TEST(AswParameters, WindowsBeyond63AreRefused) {
  EXPECT_THROW(check_ranges("asw", asw::Parameters{.window = 65}), Error);
  EXPECT_THROW(check_ranges("asw", asw::Parameters{.window = 8}), Error);
  EXPECT_NO_THROW(check_ranges("asw", asw::Parameters{.window = 63}));
}

}  // namespace
}  // namespace stereopsis::asw_test
