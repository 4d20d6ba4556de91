// Sizes and memory that the host lays out and the tuned CUDA kernels read.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::zncc_wta {

struct Tuning {
  int capability;
  int correlate_warps;             // per block
  int narrow_blocks, wide_blocks;  // per multiprocessor: windows up to 21; larger
  int least_rows;                  // per strip
  int prepare_threads, prepare_blocks;
  // Rows per block of the kernel `prepare`, for windows up to 31 and for larger ones: images of fewer than 1024 rows; of
  // more.
  int low_rows[2], high_rows[2];

  constexpr int prepare_rows(int height, int window) const {
    return (height < 1024 ? low_rows : high_rows)[window > 31];
  }
};
inline constexpr Tuning tunings[] = {
    // On an H100, 2940×2016×260 with window 21 takes 1.40 ms; 5 blocks took 1.58, 3 took 1.54, blocks of 8 warps 1.46. The
    // rest was not measured alone.
    {.capability = 80,
     .correlate_warps = 4,
     .narrow_blocks = 4,
     .wide_blocks = 3,
     .least_rows = 8,
     .prepare_threads = 256,
     .prepare_blocks = 6,
     .low_rows = {8, 24},
     .high_rows = {16, 32}},
};

// In the kernel `correlate`, a warp has `tile_rows` times 16 left pixels, and `tile_columns` times 8 right pixels for
// each of them. (32 × 80, 64 × 48 and 32 × 112 cells per warp took 1.65, 1.53 and 1.96 ms instead of 1.40.)
inline constexpr int tile_rows = 2, tile_columns = 6;
inline constexpr int warp_pixels = 16 * tile_rows, warp_disparities = 8 * tile_columns;
// Right pixels that a warp meets, and the zeros around the right image that it may read.
inline constexpr int warp_span = warp_disparities + 16 * (tile_rows - 1);

// A row of an array of octets or windows has `margin` elements before the image: 0 for the left view, warp_span for the
// right.
struct Side {
  const std::int16_t* samples;
  const std::uint8_t* mask;  // may be null
  std::int64_t samples_pitch, mask_pitch;
  int margin, pitch;
  void* octets;         // 8 bytes per element: the samples from x − radius on
  void* windows;        // left: −mean, fraction, 1/√V; right: Σ r, 1/√V
  std::uint32_t* best;  // score << 16 | last_code − k; [height][width]
};

// Cells of a warp may lie up to 63 disparities below and 63 above the range.
inline constexpr int last_code = 65535 - 64, most_disparities = last_code - 64;

struct Problem {
  int width, height, radius;
  int disparities, min_disparity;
  float one_over_n;
  Side left, right;
  std::int64_t complement;  // from the right octets to their complements, which wide windows need; 0: absent
  int first_columns[5];     // columns of the window: the first of each of four lanes, and the end
  int prepare_rows;         // per block
  int strip_rows;           // rows that a warp follows
  int first_k;              // disparity index of the leftmost right pixel that the first left pixel of a warp meets
  int chunks;               // warps for the disparities of a left pixel

  float* disparity;
  std::uint8_t* validity;
  float* right_disparity;  // null: not requested
  std::int64_t disparity_pitch, validity_pitch, right_disparity_pitch;

  static constexpr bool is_argument = true;
};

}  // namespace stereopsis::zncc_wta
