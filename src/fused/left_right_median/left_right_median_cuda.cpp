#include "core/rounding.hpp"
#include "fused/left_right_median/left_right_median.hpp"
#include "fused/left_right_median/left_right_median_cuda_problem.hpp"

namespace stereopsis::left_right_median {

void cuda(const left_right::Parameters& p, gpu::View<const float> right, gpu::View<const float> disparity,
          gpu::View<std::uint8_t> validity, gpu::View<float> filtered, gpu::Queue& queue) {
  left_right::check_sizes(right, disparity);
  median::check_not_in_place(disparity, filtered);
  const Size size = disparity.size();
  const auto& [capability, rows, warps] = gpu::pick(tunings, queue.properties());
  queue.launch({"left_right_median_cuda", "left_right_median", "w3"},
               {ceil_div(size.width, columns), ceil_div(size.height, warps * rows), 32 * warps, 1}, right, disparity,
               validity, filtered, static_cast<float>(p.threshold));
}

}  // namespace stereopsis::left_right_median
