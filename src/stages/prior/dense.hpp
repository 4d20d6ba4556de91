// The neighbours of dense seeds, for the CPU.
#pragma once

#include <cstdint>

#include "stages/prior/prior.hpp"

namespace stereopsis::prior {

inline constexpr std::int32_t none = -1;  // the value of a pixel without a seed

// The neighbours of a seed, those that agree with it, and the sum of their distances.
struct Agreement {
  int neighbours = 0, agree = 0, e = 0;
};

// A row of a window: the values of the pixels, and their grey.
struct DenseRow {
  const std::int32_t* values;
  const std::uint8_t* grey;
};

}  // namespace stereopsis::prior
