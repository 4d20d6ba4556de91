// Sub-pixel enhancement after refinement (Mei et al. 2011, section 2.4). The result is the minimum of the parabola
// through the costs a, b, c at d − 1, d and d + 1, where d = ⌊D(p) + ½⌋,
//
//   D'(p) = d − (c − a) / (2 (a − 2b + c))
//
// if all three are in the range and b is the lowest of them, but not all are equal. In other cases, such as at a filled
// disparity that is not a minimum of the costs, the disparity does not change. This is our interpretation, because the
// parabola has no minimum near d there.
//
// Input: 16-bit costs. Input and output, in place: float disparity, NaN where invalid.
// Required input: the pixel alone.
// Cost: 3 reads of the costs, 1 division. The quotient is rounded to float.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::subpixel {

struct Parameters {
  static constexpr const char* stage = "subpixel";
};

void oracle(const Parameters&, VolumeView<const std::uint16_t> costs, int min_disparity, ImageView<float> disparity);
void cpu(const Parameters&, VolumeView<const std::uint16_t> costs, int min_disparity, ImageView<float> disparity,
         Threads&);
void gpu(const Parameters&, gpu::Volume<const std::uint16_t> costs, int min_disparity, gpu::View<float> disparity,
         gpu::Queue&);

}  // namespace stereopsis::subpixel
