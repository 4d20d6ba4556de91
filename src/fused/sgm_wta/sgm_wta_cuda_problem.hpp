// Sizes and memory of one stereo pair, which the host lays out and the tuned CUDA kernels read.
#pragma once

#include <cstdint>

#include "device/gpu/tuning.hpp"

namespace stereopsis::sgm_wta {

// A lane of a warp holds words of two disparities of a pixel; a group of lanes holds all of the pixel's disparities.
template <int kRange, int kWords = 8>
struct Layout {
  static constexpr int range = kRange;
  static constexpr int half = kRange / 2;
  static constexpr int words = kWords;  // per lane
  static constexpr int lanes = half / words;
  static constexpr int groups = 32 / lanes;        // per warp
  static constexpr int tile_width = 2048 / range;  // with 8 words, a group has four adjacent columns
  // Warps of a tile that follow the vertical and diagonal paths of one direction of y, each with its share of the
  // columns.
  static constexpr int sense_warps = range == 256 ? 2 : 1;
  static constexpr int right_margin_of_zero = half + 8;  // in a row of right pairs, left of x = 0
};
inline constexpr int tile_height = 8;
inline constexpr int schedulers = 4;  // per multiprocessor
// Columns around the image that tiles and lines may read.
inline constexpr int left_margin = 8, right_margin = 40;
// Rows above and below the image that lines may read; features and volumes have them.
inline constexpr int row_margin = 5;
// First pass: where a group of lanes reads the features and costs of its lines.
enum class Source {
  memory,  // memory, loaded one row ahead
  ring,    // the group's own copies in shared memory, four rows ahead
  block    // rows that the warps of a block copy into shared memory for all its lines, two bands ahead
};
struct BorderForm {
  int words;  // per lane: many share more of a step's cost per lane, few leave more warps
  int lines;  // adjacent lines that a group of lanes follows
  Source source;
  // Words of a lane along rows: wide if all warps still run at once and no rows are kept.
  int narrow_rows, wide_rows;
  constexpr int blocks() const { return words == 16 ? 3 : 5; }  // per multiprocessor
};
inline constexpr int border_warps = schedulers;  // largest number per block

// Returns the configuration of the first pass. Measurements on an H100 with 8 paths decide: wide rows are faster if all
// warps run concurrently (0.52 instead of 0.58 ms at 1280 × 960 × 256), narrow ones otherwise (0.91 instead of 0.96 ms
// at 1920 × 1080 × 256); shared features are faster (0.301 instead of 0.349 ms at 1280 × 960 × 128).
constexpr BorderForm border_form(int range, int paths, bool volume, bool constant_penalty) {
  if (!volume && constant_penalty)
    return range == 256 ? BorderForm{16, 2, Source::block, 8, 16} : BorderForm{8, range / 64, Source::block, 8, 8};
  if (range == 256 && (paths == 8 || !volume)) return {16, 2, Source::memory, 16, 16};
  return {8, 2, paths == 4 || volume ? Source::ring : Source::memory, 8, 8};
}
// The lines of a block that shares its features lie four columns apart. Returns the number of columns from the first
// line to beyond the last one.
constexpr int block_span(int range, int words) { return 4 * border_warps * (64 * words / range); }

struct Tuning {
  int capability;
  int feature_threads, feature_columns;  // per block; per thread that lays out features
  int right_columns;                     // per thread that writes the right view's disparities
  int volume_columns, volume_blocks;     // per block, with one thread each; per multiprocessor
  // Blocks of tiles per multiprocessor: 8 paths; 4 paths and 256 disparities; 4 paths and fewer disparities.
  int tile_blocks_8, tile_blocks_256, tile_blocks_4;
  int steps_ahead_256, steps_ahead;  // steps by which costs are prefetched: 256 disparities; fewer
  int local_percent;                 // gpu::Kernel::local_percent of both passes: enough for five blocks of tiles
  bool keeps_rows;                   // if there is memory for them, and they pay
  // Warps of the first pass per scheduler above which one sense follows the other: with wide lanes; with narrow lanes.
  int wide_turns, narrow_turns;
  // Warps of the first pass per multiprocessor above which blocks are small, if they can be small.
  double warps_of_small_blocks;
  bool acquires;  // Problem::acquires
};
// Gains on an H100 with 8 paths; the rows for other devices were compiled, not measured.
//
// - tile_blocks_8: 6 blocks spill (0.525 instead of 0.494 ms at 1280 × 960 × 128).
// - steps_ahead_256: 2.31 ms with 2 steps, 2.38 with 3, 2.76 with 6 (borders from bytes, 2880 × 1980 × 256); from six bits
//   1.94, 2.06, 2.08.
// - local_percent: equal values let both passes share multiprocessors, half of the gain of tiles that start early (0.682
//   instead of 0.727 ms at 1280 × 960 × 128).
// - keeps_rows: 0.644 instead of 0.675 ms at 1280 × 960 × 128. More memory was not faster on devices before 9.0.
// - wide_turns, narrow_turns: 7.0 instead of 7.3 ms at 2880 × 1980 × 256, 0.81 instead of 0.83 ms at 1280 × 960 × 128.
// - acquires costs 3 % of the second pass on 9.0, where it is not needed.
// - The other numbers were not measured alone.
inline constexpr Tuning before_9_0{.capability = 80,
                                   .feature_threads = 256,
                                   .feature_columns = 3,
                                   .right_columns = 4,
                                   .volume_columns = 128,
                                   .volume_blocks = 8,
                                   .tile_blocks_8 = 4,
                                   .tile_blocks_256 = 5,
                                   .tile_blocks_4 = 6,
                                   .steps_ahead_256 = 2,
                                   .steps_ahead = 6,
                                   .local_percent = 85,
                                   .keeps_rows = false,
                                   .wide_turns = 3,
                                   .narrow_turns = 2,
                                   .warps_of_small_blocks = 22.73,
                                   .acquires = false};
constexpr Tuning from_9_0() {
  Tuning tuning = before_9_0;
  tuning.capability = 90;
  tuning.keeps_rows = true;
  return tuning;
}
constexpr Tuning from_10_0() {
  Tuning tuning = from_9_0();
  tuning.capability = 100;
  tuning.acquires = true;
  return tuning;
}
inline constexpr Tuning tunings[] = {before_9_0, from_9_0(), from_10_0()};

// Order of the blocks of the first pass.
enum class Order {
  lines_first,    // then rows
  rows_first,     // then lines
  senses_in_turn  // downward lines, rows from the last one up, upward lines; only with 8 paths and a volume
};

struct Problem {
  int width, height;
  int disparities, min_disparity;
  int strips, bands;  // tiles across and down
  int around;         // vertical lines, or diagonal ones on a cylinder
  int line_bundles;   // bundles of a direction; a warp of the first pass follows one bundle
  Order order;
  int wide_rows;                   // BorderForm
  int p1, p2;                      // p2: the largest P2
  std::uint32_t p1_pair, p2_pair;  // the same values in both halves
  int subpixel;                    // wta::Subpixel
  int uniqueness, border_candidates;

  // Inputs: feature words of both views, grey of the left one for the adaptive P2, masks or null.
  const void* left_words;
  const void* right_words;
  const std::uint8_t* guide;
  const std::uint8_t* mask_left;
  const std::uint8_t* mask_right;
  std::int64_t left_words_pitch, right_words_pitch, guide_pitch, mask_left_pitch, mask_right_pitch;
  int census_weight, gradient_limit;
  int most_cost;  // largest given cost
  int run;        // steps of a row's path between normalisations, a power of two; along lines it is 8

  // Rank features, laid out up to three times with pitches 0, -1 and +1 modulo 4. Following a vertical, a falling or a
  // rising line from an aligned load thus leads to aligned loads.
  std::uint8_t* left[3];    // column x at x + left_margin
  std::uint32_t* right[3];  // pairs (R(x − min), R(x − min − half)) at x + right_margin_of_zero
  int pitch[3];             // pitches of both; copies of the right features for diagonals are null if unused

  std::uint8_t* volume;      // other costs of (y, x), in the order of the lanes; bytes, or six bits each (SixBitCost)
  std::uint32_t* penalties;  // adaptive P2: column x at x + left_margin; its bytes are the four paths of one direction
                             // of y
  int penalty_pitch;
  std::int64_t penalty_plane;  // words from the plane of downward paths to that of upward ones

  // Kept path states, one byte per disparity.
  std::uint8_t* rows;   // states entering a band from above or below: [6, or 2 with 4 paths][bands][width][range]
  std::uint8_t* sides;  // diagonal paths entering a strip: [4][strips][height][range]
  std::uint8_t* ends;   // horizontal paths entering a strip: [2][strips that are not kept][height][range]
  // The kept strips, from kept_first on, have no `ends`, but what the paths of each direction along rows add to the
  // sums (sgm_wta_cuda_rows.cuh): [2][bands][quads of columns][tile_height][4][range].
  std::uint8_t* along_rows;
  int kept_first, kept_strips;

  // Number of finished warps of the first pass: by number of bands, for downward and upward lines, [2][bands + 1]; by
  // band, for its rows, [bands].
  std::uint32_t* progress;
  int counters;               // number of all counters
  int acquires;               // 1: waiting for a counter acquires the counted data
  std::uint32_t* right_best;  // S << 16 | d for each right pixel; null: not requested
  float* disparity;
  std::uint8_t* validity;
  float* right_disparity;
  float* confidence;  // null: not requested
  std::int64_t disparity_pitch, validity_pitch, right_disparity_pitch, confidence_pitch;

  static constexpr bool is_argument = true;
};

// P2 for every grey difference between a pixel and the previous one.
struct PenaltyTable {
  std::uint8_t p2[256];
  static constexpr bool is_argument = true;
};

}  // namespace stereopsis::sgm_wta
