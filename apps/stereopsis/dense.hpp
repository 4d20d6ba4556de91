// What other matchers leave out is filled before it is scored beside ours.
#pragma once

#include "stereopsis/image.hpp"

namespace stereopsis::command {

// Fills what is NaN: a run of pixels takes the smaller of its two neighbours in the row, a row without any disparity, at
// the top or the bottom, that of the nearest row.
void make_dense(Image<float>& disparity);

}  // namespace stereopsis::command
