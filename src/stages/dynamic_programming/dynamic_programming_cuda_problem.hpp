// Constants and arguments shared by the host code and the tuned CUDA kernels of dynamic programming.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::dynamic_programming {

struct Tuning {
  int capability;
  int ahead;  // pixels whose costs are being loaded
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .ahead = 4},  // 2 or 8 pixels were up to 4 % slower on an H100
};

struct CudaRows {
  static constexpr bool is_argument = true;
  std::int32_t width, height, disparities, min_disparity;
  std::uint32_t p1, p2;  // repeated in both halves of a word
};

// Words per lane, each of two disparities; 0: too many disparities.
constexpr int cuda_words(int disparities) {
  return disparities <= 64 ? 1 : disparities <= 128 ? 2 : disparities <= 256 ? 4 : 0;
}

}  // namespace stereopsis::dynamic_programming
