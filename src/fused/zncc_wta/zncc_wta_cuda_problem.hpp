// Sizes and memory that the host lays out and the tuned CUDA kernels read.
#pragma once

#include <cstdint>

namespace stereopsis::zncc_wta {

// In the kernel `correlate`, a warp has `tile_rows` times 16 left pixels, and `tile_columns` times 8 right pixels for
// each of them.
inline constexpr int tile_rows = 2, tile_columns = 6;
inline constexpr int warp_pixels = 16 * tile_rows, warp_disparities = 8 * tile_columns;
// Right pixels that a warp meets, and the zeros around the right image that it may read.
inline constexpr int warp_span = warp_disparities + 16 * (tile_rows - 1);
inline constexpr int correlate_warps = 4;                 // per block
inline constexpr int narrow_blocks = 4, wide_blocks = 3;  // per multiprocessor
inline constexpr int prepare_threads = 256;

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
