// The left-right check and a subsequent 3×3 median in one kernel. The result equals the composition of
// stages/left_right and stages/median, bit for bit.
//
// Cost: the kernel reads both disparities and the validity once, and writes the median and the validity.
#pragma once

#include "device/gpu/device.hpp"
#include "stages/left_right/left_right.hpp"
#include "stages/median/median.hpp"

namespace stereopsis::left_right_median {

// Returns whether a device of this compute capability can run the tuned kernel with these parameters.
inline bool cuda_serves(int capability, const left_right::Parameters& check, const median::Parameters& filter) {
  return capability >= 80 && check.compare == left_right::Compare::matched && filter.window == 3;
}

// `disparity` is not changed, and includes pixels that fail the check; `filtered` is another image.
void cuda(const left_right::Parameters&, gpu::View<const float> right, gpu::View<const float> disparity,
          gpu::View<std::uint8_t> validity, gpu::View<float> filtered, gpu::Queue&);

}  // namespace stereopsis::left_right_median
