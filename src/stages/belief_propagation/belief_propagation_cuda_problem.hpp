// What the host and the tuned CUDA kernels agree on.
#pragma once

#include <cstdint>

namespace stereopsis::belief_propagation {

inline constexpr int cells = 16;                      // of a thread: disparities of a pixel
inline constexpr int threads = 128;                   // of a block
inline constexpr int most_cells = 32 * cells;         // of a pixel: a warp's
inline constexpr int largest_tuned_truncation = 255;  // of messages of 8 bits

// Of the pyramid: where its costs and its messages begin in scratch memory, in bytes.
struct CudaLevel {
  std::int64_t costs, messages;
  std::int32_t width, height;
};

struct CudaProblem {
  static constexpr bool is_argument = true;  // of a kernel
  CudaLevel level, coarse;                   // a coarse one of width 0 is none
  std::int32_t disparities;
  std::int32_t chunks;             // threads that have disparities of a pixel
  std::int32_t lanes, lanes_log2;  // of a warp, for a pixel: chunks, up to a power of two
  std::int32_t slope, truncation;
  std::int32_t rounds;  // in which what a thread found goes to the next one
};

}  // namespace stereopsis::belief_propagation
