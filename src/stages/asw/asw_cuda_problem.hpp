// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::asw {

struct Tuning {
  int capability;
  int threads;  // per block
  int blocks;   // blocks per multiprocessor, for the kernel that computes the sums
  int weights_a_thread;
  int most_local_bytes;  // per block
};
inline constexpr Tuning tunings[] = {
    // Every device has this much local memory per block. On an H100, 33×33 takes 28 ms, and took 39 ms before
    // asynchronous copies. A second buffer saved 2 to 5 % and was not kept. The other numbers were not varied
    // separately.
    {.capability = 80, .threads = 256, .blocks = 2, .weights_a_thread = 4, .most_local_bytes = 99 << 10},
};

inline constexpr int thread_columns = 4, thread_disparities = 8;
inline constexpr int right_columns = 192;  // sum of the columns and the disparities of a tile

// Local memory of a block. The block first sums two rows of the window at a time, and later needs only the weights.
constexpr int cost_pitch(int tile_disparities) { return tile_disparities + 16; }
constexpr int sums_bytes(int tile_disparities, int taps_x) {
  const int columns = right_columns - tile_disparities;
  return 2 * (taps_x * (3 * right_columns + columns) + (columns + taps_x - 1) * cost_pitch(tile_disparities));
}
inline constexpr int taps_at_once = 32;  // number of taps at a time in the matrix product of weights
inline constexpr int tap_pitch = taps_at_once + 16;
constexpr int totals_bytes(int tile_disparities) {
  const int columns = right_columns - tile_disparities;
  return 4 * columns * tile_disparities + (columns + right_columns) * tap_pitch;
}

// Arguments for a band of rows. The weights of each row are stored tap by tap, first for the left view, then for the
// right view. Column c of the weights of the right view belongs to p̄ = c − right_before, or to the nearest border
// pixel.
struct CudaProblem {
  static constexpr bool is_argument = true;  // passed to a kernel as a whole
  std::int32_t width, height, disparities;
  std::int32_t radius_x, radius_y;
  std::int32_t first_row, rows;
  std::int32_t left_pitch, right_pitch, right_before;
  std::int32_t colour_scale, distance_scale;
};

}  // namespace stereopsis::asw
