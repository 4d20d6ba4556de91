// Fills the pixels that other matchers leave invalid, before they are scored next to ours.
#pragma once

#include "stereopsis/image.hpp"

namespace stereopsis::command {

// Fills NaN pixels. A run of pixels takes the smaller of its two neighbours in the row; a row without any disparity, at
// the top or the bottom, takes the values of the nearest row.
void make_dense(Image<float>& disparity);

}  // namespace stereopsis::command
