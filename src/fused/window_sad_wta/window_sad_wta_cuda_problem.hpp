// Constants and arguments shared by the host code and the tuned kernels of window matching.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::window_sad_wta {

constexpr int strip_columns = 32;  // number of column sums, including the apron of the window
constexpr int most_ranges = 4;     // largest number of warps that share a strip, each with its own disparities
constexpr int index_bits = 14;     // number of bits for the disparity in a key; the sum is above these bits

struct Tuning {
  int capability;
  int light_warps, heavy_warps;  // warps per multiprocessor, with 2 and with 4 disparities per lane
  // Number of warps per multiprocessor; rows are divided into bands so that there are this many warps.
  double warps_at_work;
  int least_rows;  // smallest number of rows in a band, so that the start of a band costs little time
};
inline constexpr Tuning tunings[] = {
    // The numbers were not varied separately.
    {.capability = 80, .light_warps = 12, .heavy_warps = 10, .warps_at_work = 11.37, .least_rows = 12},
};

// Tuning of the kernel for wide windows. A block has a strip, and each of its warps has some of the columns.
struct WideTuning {
  int capability;
  int warps, columns_of_warp;
  int blocks;        // per multiprocessor
  int shared_bytes;  // shared memory per block: more than devices before 9.0, and some later devices, have

  constexpr int columns() const { return warps * columns_of_warp; }
};
inline constexpr WideTuning wide_tunings[] = {
    // On an H100, 1280×960×128 with a window of 31×31 takes 0.125 ms. Variants took longer: 0.144 ms with 16 warps of
    // 16 columns, 0.146 ms with two bands per multiprocessor, and 0.220 ms with all sums in shared memory.
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
  std::int32_t band;     // number of rows in a band
  std::int32_t outputs;  // number of output columns of a strip, in the kernel for wide windows
};

}  // namespace stereopsis::window_sad_wta
