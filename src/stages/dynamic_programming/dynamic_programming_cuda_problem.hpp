// Constants and arguments shared by the host code and the tuned CUDA kernels of dynamic programming.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::dynamic_programming {

struct Tuning {
  int capability;
  int ahead;  // number of pixels whose costs are being loaded
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .ahead = 4},  // on an H100, 2 or 8 pixels were up to 4 % slower
};

struct CudaRows {
  static constexpr bool is_argument = true;
  std::int32_t width, height, disparities, min_disparity;
  std::uint32_t p1, p2;  // the value is repeated in both halves of a word
};

// Returns the number of words per lane, with two disparities each; 0 if there are too many disparities.
constexpr int cuda_words(int disparities) {
  return disparities <= 64 ? 1 : disparities <= 128 ? 2 : disparities <= 256 ? 4 : 0;
}

}  // namespace stereopsis::dynamic_programming
