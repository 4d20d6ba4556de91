// Sizes and memory that the host determines and the tuned CUDA kernels read.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::zncc_wta {

struct Tuning {
  int capability;
  int correlate_warps;             // per block
  int narrow_blocks, wide_blocks;  // blocks per multiprocessor, for windows up to 21 and for larger windows
  int least_rows;                  // per strip
  int prepare_threads, prepare_blocks;
  // Rows per block of the kernel `prepare`, for windows up to 31 and for larger windows. There is one pair of numbers
  // for images of fewer than 1024 rows, and one for other images.
  int low_rows[2], high_rows[2];

  constexpr int prepare_rows(int height, int window) const {
    return (height < 1024 ? low_rows : high_rows)[window > 31];
  }
};
inline constexpr Tuning tunings[] = {
    // On an H100, 2940×2016×260 with a window of 21 takes 1.40 ms. Variants took longer: 1.58 ms with 5 blocks, 1.54 ms
    // with 3 blocks, and 1.46 ms with blocks of 8 warps. The other numbers were not varied separately.
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
// each 16 left pixels. (With 32 × 80, 64 × 48 and 32 × 112 cells per warp, the kernels took 1.65, 1.53 and 1.96 ms
// instead of 1.40.)
inline constexpr int tile_rows = 2, tile_columns = 6;
inline constexpr int warp_pixels = 16 * tile_rows, warp_disparities = 8 * tile_columns;
// Number of right pixels that a warp reads, and of zeros around the right image that it may read.
inline constexpr int warp_span = warp_disparities + 16 * (tile_rows - 1);

// A row of an array of octets or windows begins with `margin` elements before the image: 0 for the left view, warp_span
// for the right view.
struct Side {
  const std::int16_t* samples;
  const std::uint8_t* mask;  // mask of the view; may be null
  std::int64_t samples_pitch, mask_pitch;
  int margin, pitch;
  void* octets;         // 8 bytes per element, the samples from x − radius on
  void* windows;        // for the left view −mean, fraction and 1/√V; for the right view Σ r and 1/√V
  std::uint32_t* best;  // score << 16 | last_code − k; [height][width]
};

// The cells of a warp may lie up to 63 disparities below the search range and 63 above it.
inline constexpr int last_code = 65535 - 64, most_disparities = last_code - 64;

struct Problem {
  int width, height, radius;
  int disparities, min_disparity;
  float one_over_n;
  Side left, right;
  // Distance from the right octets to their complements, which wide windows need; 0 if there are none.
  std::int64_t complement;
  int first_columns[5];     // columns of the window: the first column of each of four lanes, and the end
  int prepare_rows;         // per block
  int strip_rows;           // number of rows that a warp processes
  // Index of the disparity between the first left pixel of a warp and its leftmost right pixel.
  int first_k;
  int chunks;  // number of warps for the disparities of a left pixel

  float* disparity;
  std::uint8_t* validity;
  float* right_disparity;  // null if not requested
  std::int64_t disparity_pitch, validity_pitch, right_disparity_pitch;

  static constexpr bool is_argument = true;
};

}  // namespace stereopsis::zncc_wta
