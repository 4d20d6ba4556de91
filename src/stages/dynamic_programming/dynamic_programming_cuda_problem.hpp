// What the host and the tuned kernels of dynamic programming on CUDA agree on.
#pragma once

#include <cstdint>

namespace stereopsis::dynamic_programming {

struct CudaRows {
  static constexpr bool is_argument = true;
  std::int32_t width, height, disparities, min_disparity;
  std::uint32_t p1, p2;  // in both halves of a word
};

// Words of a lane, each of two disparities; 0: there are too many.
constexpr int cuda_words(int disparities) {
  return disparities <= 64 ? 1 : disparities <= 128 ? 2 : disparities <= 256 ? 4 : 0;
}

}  // namespace stereopsis::dynamic_programming
