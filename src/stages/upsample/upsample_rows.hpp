// Computes the rows [first, last) of the upsampled map. The oracle and the CPU threads share this function.
#pragma once

#include "stages/upsample/upsample.hpp"

namespace stereopsis::upsample {

void upsample_rows(const Parameters&, const Input&, const Output&, int first, int last);

}  // namespace stereopsis::upsample
