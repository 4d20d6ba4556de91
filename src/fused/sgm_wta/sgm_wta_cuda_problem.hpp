// Sizes and memory for one stereo pair, which the host determines and the tuned CUDA kernels read.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::sgm_wta {

// A lane of a warp holds words with two disparities of a pixel. A group of lanes holds all disparities of the pixel.
template <int kRange, int kWords = 8>
struct Layout {
  static constexpr int range = kRange;
  static constexpr int half = kRange / 2;
  static constexpr int words = kWords;  // per lane
  static constexpr int lanes = half / words;
  static constexpr int groups = 32 / lanes;  // per warp
  // With 8 words per lane and up to 512 disparities, a group has four adjacent columns.
  static constexpr int tile_width = range <= 512 ? 2048 / range : 4;
  // Number of warps of a tile for the vertical and diagonal paths of one direction of y. Each warp has a part of the
  // columns.
  static constexpr int sense_warps = range >= 256 ? 2 : 1;
  static constexpr int right_margin_of_zero = half + 8;  // number of right pairs in a row before the pair of x = 0
};
inline constexpr int tile_height = 8;
inline constexpr int schedulers = 4;  // per multiprocessor
// Bytes of dynamic shared memory that the sums of a tile need; 0 if they fit in 48 KiB.
constexpr int dynamic_sum_bytes(int range) { return range == 1024 ? tile_height * 4 * (512 + 15 * 4) * 4 : 0; }
// Number of columns on both sides of the image that tiles and lines may read.
inline constexpr int left_margin = 8, right_margin = 40;
// Number of rows above and below the image that lines may read. Features and volumes include these rows.
inline constexpr int row_margin = 5;
// First pass: the place from which a group of lanes reads the features and costs of its lines.
enum class Source {
  memory,  // global memory, loaded one row ahead
  ring,    // the group's own copies in shared memory, made four rows ahead
  block    // rows that the warps of a block copy to shared memory for all lines of the block, two bands ahead
};
struct BorderForm {
  // Words per lane: with many words, lanes share more of the work of a step; with few words, there are more warps.
  int words;
  int lines;  // number of adjacent lines that a group of lanes follows
  Source source;
  // Words per lane along rows. The wide form is used if all warps still run at once and no rows are kept.
  int narrow_rows, wide_rows;
  constexpr int blocks() const { return words == 16 ? 3 : 5; }  // per multiprocessor
};
inline constexpr int border_warps = schedulers;  // largest number of warps per block

// Words per lane in tiles, for a range of the kernels.
constexpr int tile_words(int range) { return range == 1024 ? 16 : 8; }

// Returns the form of the first pass. The choices follow measurements on an H100 with 8 paths. Wide rows are faster if
// all warps run concurrently (0.52 instead of 0.58 ms at 1280 × 960 × 256), and narrow rows otherwise (0.91 instead of
// 0.96 ms at 1920 × 1080 × 256). Shared features are faster (0.301 instead of 0.349 ms at 1280 × 960 × 128).
constexpr BorderForm border_form(int range, int paths, bool volume, bool constant_penalty) {
  if (range == 1024) return {16, 2, Source::memory, 16, 16};
  if (!volume && constant_penalty)
    return range >= 256 ? BorderForm{16, 2, Source::block, 8, 16} : BorderForm{8, range / 64, Source::block, 8, 8};
  if (range >= 256 && (paths == 8 || !volume)) return {16, 2, Source::memory, 16, 16};
  return {8, 2, paths == 4 || volume ? Source::ring : Source::memory, 8, 8};
}
// Returns the number of columns from the first line of a block to beyond the last line, for a block whose lines share
// features. The lines of such a block are four columns apart.
constexpr int block_span(int range, int words) { return 4 * border_warps * (64 * words / range); }

struct Tuning {
  int capability;
  int feature_threads, feature_columns;  // for features: threads per block, and columns per thread
  int right_columns;                     // columns per thread that writes disparities of the right view
  // Columns per block for up to 256 disparities, with one thread each, and blocks per multiprocessor, of the kernel that
  // writes the volume.
  int volume_columns, volume_blocks;
  // Blocks of tiles per multiprocessor: for 8 paths, for 4 paths with 256 or 512 disparities, for 4 paths with fewer
  // disparities, and for 1024 disparities.
  int tile_blocks_8, tile_blocks_256, tile_blocks_4, tile_blocks_1024;
  // Number of steps by which costs are prefetched, from 256 disparities on and for fewer.
  int steps_ahead_256, steps_ahead;
  // Gpu::Kernel::local_percent of both passes, which is sufficient for five blocks of tiles.
  int local_percent;
  bool keeps_rows;  // whether rows are kept, if there is memory for them and they save time
  // Numbers of warps of the first pass per scheduler above which one direction of y follows the other, with wide and
  // with narrow lanes.
  int wide_turns, narrow_turns;
  // Number of warps of the first pass per multiprocessor above which blocks are small, if they can be small.
  double warps_of_small_blocks;
};
// Effects of the numbers on an H100 with 8 paths. The rows for other devices were compiled but not measured.
//
// - tile_blocks_8: with 6 blocks, registers are spilled (0.525 instead of 0.494 ms at 1280 × 960 × 128).
// - tile_blocks_1024: three blocks do not fit in shared memory, and spill registers (banz-sgm at 2880 × 1980 × 800 on an
//   H200: 34.2 instead of 44.3 ms).
// - steps_ahead_256: 2.31 ms with 2 steps, 2.38 with 3, 2.76 with 6 (borders from bytes, 2880 × 1980 × 256); from six bits
//   1.94, 2.06, 2.08.
// - local_percent: equal values let both passes share multiprocessors, half of the gain of tiles that start early (0.682
//   instead of 0.727 ms at 1280 × 960 × 128).
// - keeps_rows: 0.644 instead of 0.675 ms at 1280 × 960 × 128. More memory was not faster on devices before 9.0.
// - wide_turns, narrow_turns: 7.0 instead of 7.3 ms at 2880 × 1980 × 256, and 0.81 instead of 0.83 ms
//   at 1280 × 960 × 128.
// - The other numbers were not varied separately.
inline constexpr Tuning before_9_0{.capability = 80,
                                   .feature_threads = 256,
                                   .feature_columns = 3,
                                   .right_columns = 4,
                                   .volume_columns = 128,
                                   .volume_blocks = 8,
                                   .tile_blocks_8 = 4,
                                   .tile_blocks_256 = 5,
                                   .tile_blocks_4 = 6,
                                   .tile_blocks_1024 = 2,
                                   .steps_ahead_256 = 2,
                                   .steps_ahead = 6,
                                   .local_percent = 85,
                                   .keeps_rows = false,
                                   .wide_turns = 3,
                                   .narrow_turns = 2,
                                   .warps_of_small_blocks = 22.73};
constexpr Tuning from_9_0() {
  Tuning tuning = before_9_0;
  tuning.capability = 90;
  tuning.keeps_rows = true;
  return tuning;
}
inline constexpr Tuning tunings[] = {before_9_0, from_9_0()};

// Order of the blocks of the first pass.
enum class Order {
  lines_first,    // then rows
  rows_first,     // then lines
  senses_in_turn  // downward lines, then rows from the last row up, then upward lines; only with 8 paths and a volume
};

struct Problem {
  int width, height;
  int disparities, min_disparity;
  int strips, bands;  // number of tiles across and down
  int around;         // number of vertical lines, or of diagonal lines on the cylinder
  int line_bundles;   // number of bundles of a direction; a warp of the first pass follows one bundle
  Order order;
  int wide_rows;  // BorderForm
  // True if the first pass follows only upward lines and stores only `leaving`, which is the pass before all stripes.
  int only_upward;
  int p1, p2;                      // p2: the largest P2
  std::uint32_t p1_pair, p2_pair;  // each value is repeated in both halves
  int subpixel;                    // wta::Subpixel
  int uniqueness, border_candidates;

  // Inputs: feature words of both views, the grey left image for the adaptive P2, and masks, which may be null.
  const void* left_words;
  const void* right_words;
  const std::uint8_t* guide;
  const std::uint8_t* mask_left;
  const std::uint8_t* mask_right;
  std::int64_t left_words_pitch, right_words_pitch, guide_pitch, mask_left_pitch, mask_right_pitch;
  int guide_above, guide_below;  // number of rows of the guide image before the first row and after the last row
  int census_weight, gradient_limit;
  int most_cost;  // largest given cost
  int run;        // number of steps along a row between normalisations, a power of two; along lines, this number is 8

  // Rank features, stored up to three times, with pitches of 0, −1 and +1 modulo 4. Starting from an aligned load, a
  // vertical, a falling or a rising line therefore leads to aligned loads.
  std::uint8_t* left[3];    // column x is at index x + left_margin
  std::uint32_t* right[3];  // pairs (R(x − min), R(x − min − half)), at index x + right_margin_of_zero
  int pitch[3];             // pitches of both views; unused copies of the right features for diagonals are null

  // Other costs of (y, x) in the order of the lanes, in bytes or in six bits each (SixBitCost).
  std::uint8_t* volume;
  // Adaptive P2, with column x at index x + left_margin; the bytes belong to the four paths of one direction of y.
  std::uint32_t* penalties;
  int penalty_pitch;
  std::int64_t penalty_plane;  // distance, in words, from the plane of downward paths to that of upward paths

  // Stored path states, with one byte per disparity.
  std::uint8_t* rows;   // states that enter a band from above or below: [6, or 2 with 4 paths][bands][width][range]
  std::uint8_t* sides;  // states of diagonal paths that enter a strip: [4][strips][height][range]
  std::uint8_t* ends;   // states of horizontal paths that enter a strip: [2][strips that are not kept][height][range]
  // States with which downward (0) and upward (1) paths enter a stripe of the image, and with which they leave it for
  // the next stripe: [3, or 1 with 4 paths][width][range]. Null where the stripe ends at a border of the image.
  const std::uint8_t* entering[2];
  std::uint8_t* leaving[2];
  // The kept strips, from kept_first on, have no `ends`. For them, the contributions of the paths along rows to the
  // sums are stored (sgm_wta_cuda_rows.cuh): [2][bands][quads of columns][tile_height][4][range].
  std::uint8_t* along_rows;
  int kept_first, kept_strips;

  // Numbers of finished warps of the first pass. For downward and upward lines, they are indexed by the number of
  // bands, [2][bands + 1]; for rows, by the band, [bands].
  std::uint32_t* progress;
  int counters;               // number of all counters
  std::uint32_t* right_best;  // S << 16 | d for each right pixel; null if not requested
  float* disparity;
  std::uint8_t* validity;
  float* right_disparity;
  float* confidence;  // null if not requested
  std::int64_t disparity_pitch, validity_pitch, right_disparity_pitch, confidence_pitch;

  static constexpr bool is_argument = true;
};

// P2 for every grey difference between a pixel and the previous pixel.
struct PenaltyTable {
  std::uint8_t p2[256];
  static constexpr bool is_argument = true;
};

}  // namespace stereopsis::sgm_wta
