#include "fused/left_right_median/left_right_median.hpp"

namespace stereopsis::left_right_median {

void cuda(const left_right::Parameters& p, gpu::View<const float> right, gpu::View<const float> disparity,
          gpu::View<std::uint8_t> validity, gpu::View<float> filtered, gpu::Queue& queue) {
  left_right::check_sizes(right, disparity);
  median::check_not_in_place(disparity, filtered);
  constexpr int tile_width = 32, tile_height = 32;
  const Size size = disparity.size();
  queue.launch({"left_right_median_cuda", "left_right_median", "w3"},
               {(size.width + tile_width - 1) / tile_width, (size.height + tile_height - 1) / tile_height, 256, 1},
               right, disparity, validity, filtered, static_cast<float>(p.threshold));
}

}  // namespace stereopsis::left_right_median
