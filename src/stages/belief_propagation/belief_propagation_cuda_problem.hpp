// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::belief_propagation {

inline constexpr int cells = 16;                      // disparities of a pixel per thread
inline constexpr int most_cells = 32 * cells;         // per pixel: one warp
inline constexpr int largest_tuned_truncation = 255;  // messages have 8 bits

struct Tuning {
  int capability;
  int threads;  // per block
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .threads = 128},  // not measured alone
};

// The start of a level's costs and messages in scratch memory, in bytes.
struct CudaLevel {
  std::int64_t costs, messages;
  std::int32_t width, height;
};

struct CudaProblem {
  static constexpr bool is_argument = true;  // passed to a kernel as a whole
  CudaLevel level, coarse;                   // the coarse level has width 0 if there is none
  std::int32_t disparities;
  std::int32_t chunks;             // threads that hold disparities of a pixel
  std::int32_t lanes, lanes_log2;  // chunks, rounded up to a power of two: lanes of a warp per pixel
  std::int32_t slope, truncation;
  std::int32_t rounds;  // number of rounds in which a thread passes its minimum to the next one
};

}  // namespace stereopsis::belief_propagation
