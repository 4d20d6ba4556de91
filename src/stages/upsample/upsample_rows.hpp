// Rows [first, last) of the upsampled map: the oracle, which threads share out among them.
#pragma once

#include "stages/upsample/upsample.hpp"

namespace stereopsis::upsample {

void upsample_rows(const Parameters&, const Input&, const Output&, int first, int last);

}  // namespace stereopsis::upsample
