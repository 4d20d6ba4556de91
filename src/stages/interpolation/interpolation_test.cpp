#include "stages/interpolation/interpolation.hpp"

#include "support/devices.hpp"
#include "support/threads.hpp"

namespace stereopsis::interpolation_test {
namespace {

using namespace test;

constexpr float nan = invalid_disparity;

TEST(Interpolation, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const int invalid_percent : {0, 40, 95, 100})
      for (const int channels : {1, 3}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << invalid_percent << " % invalid, "
                                        << channels << " channels");
        const Map map = random_map(size, 1, -9, 9, invalid_percent);
        PitchedImage<float> disparity(map.disparity.view());
        PitchedImage<std::uint8_t> image(random_image<std::uint8_t>(size, 2, 0, 255, channels).view());
        PitchedImage<std::uint8_t> kinds(random_image<std::uint8_t>(size, 3, 0, 2).view());
        const auto oracle = [&](auto filled, auto validity) {
          interpolation::oracle({}, {disparity, image, kinds}, filled, validity);
        };
        for_each_thread_count([&](Threads& threads) {
          expect_map_equals_oracle(map, oracle, [&](auto filled, auto validity) {
            interpolation::cpu({}, {disparity, image, kinds}, filled, validity, threads);
          });
        });
        for (gpu::Device* device : gpu::usable_devices()) {
          SCOPED_TRACE(device->name());
          const auto queue = device->make_queue();
          const OnDevice<float> disparity_there(*device, *queue, disparity);
          const OnDevice<std::uint8_t> image_there(*device, *queue, image), kinds_there(*device, *queue, kinds);
          expect_gpu_map_equals_oracle(*device, *queue, map, oracle, [&](auto filled, auto validity) {
            interpolation::gpu({}, {disparity_there, image_there, kinds_there}, filled, validity, *queue);
          });
        }
      }
  if (gpu::usable_devices().empty())
    GTEST_SKIP() << "on the processor alone; no GPU: " << gpu::cuda_devices().reason << "; "
                 << gpu::opencl_devices().reason;
}

// Fills a hole in the middle of 3 × 3 pixels, in which every other pixel has its own disparity and grey level.
float filled(std::uint8_t kind, int like) {
  Map map = map_of({{8, 7, 6}, {5, nan, 4}, {3, 2, 1}});
  Image<std::uint8_t> image(3, 3), kinds(3, 3);
  for (int i = 0; i < 9; ++i) image(i % 3, i / 3) = static_cast<std::uint8_t>(20 * i);
  image(1, 1) = static_cast<std::uint8_t>(20 * like + 3);
  kinds.fill(kind);
  Image<float> out(3, 3);
  interpolation::oracle({}, {map.disparity, image, kinds}, out, map.validity);
  EXPECT_EQ(map.validity(1, 1), validity::filled);
  return out(1, 1);
}

TEST(InterpolationOracle, OccludedPixelsTakeTheLowest) { EXPECT_EQ(filled(1, 0), 1); }

TEST(InterpolationOracle, MismatchedPixelsTakeTheNearestColour) {
  EXPECT_EQ(filled(2, 0), 8);
  EXPECT_EQ(filled(2, 5), 4);
  EXPECT_EQ(filled(0, 7), 2);
}

TEST(InterpolationOracle, LooksInSixteenDirections) {
  Map map{Image<float>({9, 9}, 1, nan), Image<std::uint8_t>({9, 9}, 1, validity::left_right)};
  map.disparity(8, 6) = 5;  // at the offset (4, 2) from the middle, like a knight's move
  map.disparity(8, 5) = 2;  // this pixel lies in none of the directions
  Image<std::uint8_t> image(9, 9), kinds(9, 9);
  image.fill(0);
  kinds.fill(1);
  Image<float> out(9, 9);
  interpolation::oracle({}, {map.disparity, image, kinds}, out, map.validity);
  EXPECT_EQ(out(4, 4), 5);
}

TEST(InterpolationOracle, MaskedPixelsAndThoseWithoutAnyStayInvalid) {
  Map map = map_of({{nan, 4}}, validity::masked);
  Image<std::uint8_t> image(2, 1), kinds(2, 1);
  image.fill(0);
  kinds.fill(1);
  Image<float> out(2, 1);
  interpolation::oracle({}, {map.disparity, image, kinds}, out, map.validity);
  EXPECT_TRUE(std::isnan(out(0, 0)));
  map = map_of({{nan, nan}});
  interpolation::oracle({}, {map.disparity, image, kinds}, out, map.validity);
  EXPECT_TRUE(std::isnan(out(0, 0)));
  EXPECT_EQ(map.validity(0, 0), validity::no_candidate);
  EXPECT_THROW(interpolation::oracle({}, {map.disparity, image, kinds}, map.disparity, map.validity), Error);
}

}  // namespace
}  // namespace stereopsis::interpolation_test
