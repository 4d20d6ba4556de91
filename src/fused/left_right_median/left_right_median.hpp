// The left-right check and the 3×3 median after it in one kernel: stages/left_right and stages/median composed, bit for
// bit.
//
// Cost: reads both disparities and the validity once; writes the median and the validity.
#pragma once

#include "device/gpu/device.hpp"
#include "stages/left_right/left_right.hpp"
#include "stages/median/median.hpp"

namespace stereopsis::left_right_median {

// Returns whether a device of this compute capability can run the tuned kernel with these parameters.
inline bool cuda_serves(int capability, const left_right::Parameters& check, const median::Parameters& filter) {
  return capability >= 80 && check.compare == left_right::Compare::matched && filter.window == 3;
}

// `disparity` keeps the pixels that failed the check; `filtered` is another image.
void cuda(const left_right::Parameters&, gpu::View<const float> right, gpu::View<const float> disparity,
          gpu::View<std::uint8_t> validity, gpu::View<float> filtered, gpu::Queue&);

}  // namespace stereopsis::left_right_median
