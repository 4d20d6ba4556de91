// Constants and arguments shared by the host code and the tuned kernels of window matching.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::window_sad_wta {

constexpr int strip_columns = 32;  // column sums, including those of the window's apron
constexpr int most_ranges = 4;     // warps that share a strip, each with disparities of its own
constexpr int index_bits = 14;     // bits of the disparity in a key, below its sum

struct Tuning {
  int capability;
  int light_warps, heavy_warps;  // per multiprocessor: with 2 disparities per lane; with 4
  double warps_at_work;  // per multiprocessor: the rows that share a start are so few that there are this many warps
  int least_rows;        // rows that share a start, so that its cost does not count
};
inline constexpr Tuning tunings[] = {
    // The numbers were not measured alone.
    {.capability = 80, .light_warps = 12, .heavy_warps = 10, .warps_at_work = 11.37, .least_rows = 12},
};

// The kernel for wide windows: a block has a strip, and each of its warps has some of the columns.
struct WideTuning {
  int capability;
  int warps, columns_of_warp;
  int blocks;        // per multiprocessor
  int shared_bytes;  // per block: more than devices before 9.0 have, and some later ones

  constexpr int columns() const { return warps * columns_of_warp; }
};
inline constexpr WideTuning wide_tunings[] = {
    // On an H100, 1280×960×128 with a window of 31×31 takes 0.125 ms; 16 warps of 16 columns took 0.144, two bands for
    // each multiprocessor 0.146, all sums in shared memory 0.220.
    {.capability = 90, .warps = 12, .columns_of_warp = 24, .blocks = 1, .shared_bytes = 172160},
};

struct Problem {
  static constexpr bool is_argument = true;

  const std::uint32_t *left, *right;
  std::int64_t left_pitch, right_pitch;
  float* disparity;
  std::uint8_t* validity;
  std::int64_t disparity_pitch, validity_pitch;
  std::int32_t width, height, min_disparity, disparities, radius_x, radius_y, shift, border_candidates;
  std::int32_t band;     // rows that share a start
  std::int32_t outputs;  // columns of a strip of the kernel for wide windows
};

}  // namespace stereopsis::window_sad_wta
