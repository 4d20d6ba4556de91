#include <cmath>

#include "fused/left_right_median/left_right_median.hpp"
#include "support/devices.hpp"

namespace stereopsis::left_right_median_cuda_test {
namespace {

using namespace test;

// Sizes close to multiples of the size of a warp, 30 × 5, and of a block, 30 × 20.
const std::vector<Size> sizes = {{1, 1}, {1, 40}, {40, 1}, {31, 33}, {33, 31}, {64, 32}, {60, 20}, {61, 41}, {97, 70}};

TEST(LeftRightMedianCuda, EqualsOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : sizes)
      for (const double threshold : {0.0, 0.6, 1.0, 100.0})
        for (const int invalid_percent : {0, 25, 90}) {
          SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", threshold " << threshold << ", "
                                          << invalid_percent << " % invalid");
          Map map = random_map(size, 3, -4, 12, invalid_percent);
          map.disparity(0, 0) = 3e38f;  // this disparity leads far outside the other image
          map.disparity(size.width - 1, size.height - 1) = -INFINITY;
          Map expected = map;
          PitchedImage<float> right(random_map(size, 4, -4, 12, 25).disparity.view()), filtered(size);
          Image<float> expected_filtered(size);
          left_right::oracle({threshold}, right, expected.disparity, expected.validity);
          median::oracle({.window = 3}, expected.disparity.view(), expected_filtered.view());

          PitchedImage<float> disparity(map.disparity.view());
          PitchedImage<std::uint8_t> validity(map.validity.view());
          const OnDevice<float> right_there(device, queue, right), disparity_there(device, queue, disparity);
          OnDevice<std::uint8_t> validity_there(device, queue, validity);
          OnDevice<float> filtered_there(device, queue, filtered);
          for (int run = 0; run < 2; ++run) {
            left_right_median::cuda({threshold}, right_there, disparity_there, validity_there, filtered_there, queue);
            filtered_there.download();
            validity_there.download();
            EXPECT_TRUE(same_bits(filtered.view(), expected_filtered.view()));
            EXPECT_TRUE(same_bits(validity.view(), expected.validity.view()));
            EXPECT_TRUE(filtered.guard_intact() && validity.guard_intact());
          }
        }
  });
}

}  // namespace
}  // namespace stereopsis::left_right_median_cuda_test
