// The confidence that is delivered: pixels that were not measured have none.
//
//   C'(p) = C(p) where the validity of p is 0, and 0 where p is invalid, filled or repaired
//
// Stages before this one pass confidences on that belong to a rejected candidate, or that a repair raised (Prehn 2007,
// section 5.3.3); these say nothing about the disparity that is delivered.
//
// In place: confidence, float in [0, 1]. Input: validity in 8 bits. Required input: the pixel alone.
// Cost: reads 5 bytes and writes 4 bytes per pixel.
#pragma once

#include <cstdint>

#include "device/gpu/view.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::measured_confidence {

void oracle(ImageView<const std::uint8_t> validity, ImageView<float> confidence);
void cpu(ImageView<const std::uint8_t> validity, ImageView<float> confidence, Threads&);
void gpu(gpu::View<const std::uint8_t> validity, gpu::View<float> confidence, gpu::Queue&);

}  // namespace stereopsis::measured_confidence
