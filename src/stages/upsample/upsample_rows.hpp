// Computes rows [first, last) of the upsampled map: the body of the oracle, which the CPU threads share.
#pragma once

#include "stages/upsample/upsample.hpp"

namespace stereopsis::upsample {

void upsample_rows(const Parameters&, const Input&, const Output&, int first, int last);

}  // namespace stereopsis::upsample
