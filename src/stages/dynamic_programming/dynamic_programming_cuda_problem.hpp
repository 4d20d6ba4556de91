// Constants and arguments shared by the host code and the tuned CUDA kernels of dynamic programming.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::dynamic_programming {

struct Tuning {
  int capability;
  int ahead;       // number of pixels whose costs are being loaded into registers
  int ring_bytes;  // shared memory of a warp for the pixels that are being copied
};
inline constexpr Tuning tunings[] = {
    // On an H100, the ring takes 0.26 instead of 0.65 ms at 1280×960×128, and 2 or 8 pixels were up to 4 % slower than 4.
    {.capability = 80, .ahead = 4, .ring_bytes = 12288},
};

struct CudaRows {
  static constexpr bool is_argument = true;
  std::int32_t width, height, disparities, min_disparity;
  std::uint32_t p1, p2;  // the value is repeated in both halves of a word
};

// Returns the number of words per lane, with two disparities each; 0 if there are too many disparities.
constexpr int cuda_words(int disparities) { return disparities <= 128 ? 2 : disparities <= 256 ? 4 : 0; }

}  // namespace stereopsis::dynamic_programming
