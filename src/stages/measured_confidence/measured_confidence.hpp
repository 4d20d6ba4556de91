// The confidence that is returned to the caller, in which pixels without a measured disparity have the confidence 0.
//
//   C'(p) = C(p) if the validity of p is 0, and 0 if p is invalid, filled or repaired
//
// Earlier stages may return the confidence of a rejected candidate, or a confidence that a repair has raised (Prehn
// 2007, section 5.3.3). Such values do not describe the returned disparity.
//
// Input and output, in place: confidence, float in [0, 1]. Input: validity in 8 bits.
// Required input: the pixel alone.
// Cost: reads 5 bytes and writes 4 bytes per pixel.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::measured_confidence {

void oracle(ImageView<const std::uint8_t> validity, ImageView<float> confidence);
void cpu(ImageView<const std::uint8_t> validity, ImageView<float> confidence, Threads&);
void gpu(gpu::View<const std::uint8_t> validity, gpu::View<float> confidence, gpu::Queue&);

}  // namespace stereopsis::measured_confidence
