// Makes a disparity map and its validity consistent after a function of the caller has changed them. The planner runs
// this after each user-defined refinement.
//
//   D'(p) = NaN                if D(p) is NaN or infinite, or V(p) has a reason; else D(p)
//   V'(p) = V(p) | ambiguous   if D(p) is NaN or infinite, and V(p) has no reason; else V(p)
//
// Empty images are left alone.
#pragma once

#include <cstdint>

#include "device/gpu/view.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

void make_consistent(ImageView<float> disparity, ImageView<std::uint8_t> validity);
void make_consistent(gpu::View<float> disparity, gpu::View<std::uint8_t> validity, gpu::Queue&);

}  // namespace stereopsis
