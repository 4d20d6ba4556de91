// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::belief_propagation {

inline constexpr int cells = 16;  // number of disparities of a pixel per thread
// Largest number of disparities of a pixel, which one warp processes.
inline constexpr int most_cells = 32 * cells;
inline constexpr int largest_tuned_truncation = 255;  // messages have 8 bits

struct Tuning {
  int capability;
  int threads;  // per block
};
inline constexpr Tuning tunings[] = {
    {.capability = 80, .threads = 128},  // the numbers were not varied separately
};

// Positions of a level's costs and messages in scratch memory, in bytes.
struct CudaLevel {
  std::int64_t costs, messages;
  std::int32_t width, height;
};

struct CudaProblem {
  static constexpr bool is_argument = true;  // the struct is one argument of a kernel
  CudaLevel level, coarse;                   // `coarse` has the width 0 if there is no coarser level
  std::int32_t disparities;
  std::int32_t chunks;             // number of threads that hold disparities of a pixel
  std::int32_t lanes, lanes_log2;  // number of lanes of a warp per pixel: `chunks`, rounded up to a power of two
  std::int32_t slope, truncation;
  std::int32_t rounds;  // number of rounds in which a thread passes its minimum to the next thread
};

}  // namespace stereopsis::belief_propagation
