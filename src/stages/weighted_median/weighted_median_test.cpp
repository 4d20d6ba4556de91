#include "stages/weighted_median/weighted_median.hpp"

#include <cmath>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/threads.hpp"

namespace stereopsis::weighted_median_test {
namespace {

using namespace test;

Map random_filled_map(Size size) {
  Map map = random_map(size, 5, -9, 12, 10);
  std::mt19937 generator(2);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (map.validity(x, y) == 0 && generator() % 4 == 0) map.validity(x, y) = validity::filled;
  return map;
}

TEST(WeightedMedian, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const weighted_median::Parameters& p : {weighted_median::Parameters{}, {2, 1.5, 300}, {24, 100, 5}})
      for (const int channels : {1, 3}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", radius " << p.radius << ", "
                                        << channels << " channels");
        const Map map = random_filled_map(size);
        PitchedImage<float> disparity(map.disparity.view());
        PitchedImage<std::uint8_t> validity(map.validity.view());
        PitchedImage<std::uint8_t> image(random_image<std::uint8_t>(size, 8, 90, 130, channels).view());
        const auto oracle = [&](auto out) { weighted_median::oracle(p, {disparity, validity, image}, out); };
        for_each_thread_count([&](Threads& threads) {
          expect_equals_oracle<float>(size, oracle, [&](auto out) {
            weighted_median::cpu(p, {disparity, validity, image}, out, threads);
          });
        });
        for (gpu::Device* device : gpu::usable_devices()) {
          SCOPED_TRACE(device->name());
          const auto queue = device->make_queue();
          const OnDevice<float> disparity_there(*device, *queue, disparity);
          const OnDevice<std::uint8_t> validity_there(*device, *queue, validity), image_there(*device, *queue, image);
          expect_gpu_equals_oracle<float>(*device, *queue, size, oracle, [&](auto out) {
            weighted_median::gpu(p, {disparity_there, validity_there, image_there}, out, *queue);
          });
        }
      }
}

struct Row {
  std::vector<float> disparities;
  std::vector<std::uint8_t> greys;
};

float median_of(const Row& row, int x, const weighted_median::Parameters& p) {
  Map map = map_of({row.disparities});
  map.validity(x, 0) = validity::filled;
  Image<std::uint8_t> image(map.disparity.size());
  std::copy(row.greys.begin(), row.greys.end(), image.row(0));
  Image<float> filtered(map.disparity.size());
  weighted_median::oracle(p, {map.disparity, map.validity, image}, filtered);
  for (int i = 0; i < filtered.width(); ++i)
    if (i != x && !std::isnan(map.disparity(i, 0))) {
      EXPECT_EQ(filtered(i, 0), map.disparity(i, 0)) << "a pixel that is not filled";
    }
  return filtered(x, 0);
}

TEST(WeightedMedianOracle, FollowsTheColourAndTheValidPixels) {
  const weighted_median::Parameters wide{.radius = 4, .sigma_space = 1000, .sigma_colour = 10};
  EXPECT_EQ(median_of({{5, 5, 9, 8, 8}, {10, 10, 10, 200, 200}}, 2, wide), 5);
  EXPECT_EQ(median_of({{5, 5, 9, 8, 8}, {10, 10, 200, 200, 200}}, 2, wide), 8);
  EXPECT_EQ(median_of({{5, NAN, 9, NAN, 8}, {10, 10, 10, 10, 10}}, 2, wide), 8);
  // At exactly half of the weight, the lower value is the median.
  EXPECT_EQ(median_of({{5, 5, 8, 8}, {10, 10, 10, 10}}, 1, wide), 5);
}

TEST(WeightedMedianOracle, FollowsTheDistance) {
  const Row row{{1, 1, 1, 7, 7}, {10, 10, 10, 10, 10}};
  EXPECT_EQ(median_of(row, 4, {.radius = 4, .sigma_space = 1000, .sigma_colour = 10}), 1);
  EXPECT_EQ(median_of(row, 4, {.radius = 4, .sigma_space = 1, .sigma_colour = 10}), 7);
  EXPECT_EQ(median_of(row, 4, {.radius = 1, .sigma_space = 1000, .sigma_colour = 10}), 7);
}

TEST(WeightedMedianParameters, InPlaceIsRefused) {
  Image<float> image({3, 3}, 1, 1);
  Image<std::uint8_t> bytes({3, 3}, 1, 0);
  EXPECT_THROW(weighted_median::oracle({}, {image, bytes, bytes}, image), Error);
}

}  // namespace
}  // namespace stereopsis::weighted_median_test
