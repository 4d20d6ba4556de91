// AD-Census costs of both views, in which cells of the right view are copied from the left view:
// ad_census_both_cuda.hpp.
#include "device/cuda/words.cuh"
#include "fused/ad_census_both/ad_census_both_cuda_problem.hpp"

namespace stereopsis::ad_census_both {
namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int items = tuning.items, units = items / lanes;
constexpr int groups = tuning.groups, columns = tuning.columns, tile = tuning.tile;

__device__ __forceinline__ u8* cells_of(const Problem& p, int x, int y) {
  return x < p.width ? p.costs + ((i64)y * p.width + x) * p.disparities
                     : p.costs_beyond + ((i64)y * p.beyond + x - p.width) * p.disparities;
}

// A table of bytes with one copy per lane. Each copy lies in its own bank.
template <int kEntries>
struct Table {
  static constexpr int quads = (kEntries + 3) / 4;
  u32 words[quads * 32];

  __device__ __forceinline__ void fill(const u8* from) {
    for (int i = threadIdx.x; i < quads * 32; i += items) {
      const int first = i / 32 * 4;
      u32 word = 0;
      for (int b = 0; b < 4; ++b) word |= first + b < kEntries ? (u32)from[first + b] << 8 * b : 0;
      words[i] = word;
    }
  }
  // Returns entry i. `bank` points to the copy of the lane, at the first word of its bank.
  static __device__ __forceinline__ u32 at(const u8* bank, u32 i) { return bank[(i & ~3u) * 31 + i]; }
};
constexpr int colours = 766, censuses = 66;

struct Word {
  u32 colour;
  u64 census;
};
__device__ __forceinline__ Word word_at(const u8* image, const u64* census, int channels, int x) {
  const u8* pixel = image + (i64)x * channels;
  return {channels == 1 ? pixel[0] * 0x010101u : pixel[0] | (u32)pixel[1] << 8 | (u32)pixel[2] << 16, census[x]};
}

constexpr int seen = columns + groups * group;  // number of right pixels that a group of work-items reads
// Distance of neighbours in memory, so that the lanes read adjacent words.
constexpr int plane = seen / per_lane + 8;

__device__ __forceinline__ int slot_of(int i) { return i % per_lane * plane + i / per_lane; }

__device__ __forceinline__ u32 cost_of(const Word& a, const Word& b, const u8* colour, const u8* census) {
  return Table<colours>::at(colour, __vsadu4(a.colour, b.colour)) +
         Table<censuses>::at(census, __popcll(a.census ^ b.census));
}

__device__ __forceinline__ void store_costs(const Problem& p, u8* to, u32 word, int count) {
  if (p.in_words) {
    *(u32*)to = word;
  } else {
#pragma unroll
    for (int i = 0; i < per_lane; ++i)
      if (i < count) to[i] = (u8)(word >> 8 * i);
  }
}

__device__ __forceinline__ void make_costs(const Problem& p, const Tables& tables) {
  __shared__ Table<colours> colour_table;
  __shared__ Table<censuses> census_table;
  __shared__ u32 left_colour[columns], right_colour[per_lane * plane];
  __shared__ u64 left_census[columns], right_census[per_lane * plane];

  const int y = blockIdx.y, all_groups = (p.disparities + group - 1) / group;
  const int passes = (all_groups + groups - 1) / groups;
  const int first_group = blockIdx.x % passes * groups, own_groups = min(groups, all_groups - first_group);
  const int first_x = blockIdx.x / passes * columns, first_d = p.min_disparity + first_group * group;
  const int first_right = first_x - first_d - groups * group + 1;
  colour_table.fill(tables.colour);
  census_table.fill(tables.census);
  for (int i = threadIdx.x; i < columns; i += items) {
    const Word w = word_at(p.left + y * p.left_pitch, p.left_census + y * p.left_census_pitch, p.channels,
                           min(first_x + i, p.width - 1));
    left_colour[i] = w.colour;
    left_census[i] = w.census;
  }
  for (int i = threadIdx.x; i < seen; i += items) {
    const Word w = word_at(p.right + y * p.right_pitch, p.right_census + y * p.right_census_pitch, p.channels,
                           min(max(first_right + i, 0), p.width - 1));
    right_colour[slot_of(i)] = w.colour;
    right_census[slot_of(i)] = w.census;
  }
  __syncthreads();

  const int unit = threadIdx.x / lanes, own_group = unit % own_groups;
  const int share = columns / (units / own_groups), from = unit / own_groups * share;
  const int in_group = threadIdx.x % lanes * per_lane, k = (first_group + own_group) * group + in_group;
  // Columns in which all right pixels of the group are outside the image are skipped.
  const int end = min(p.width + p.beyond, p.width + max(first_d + (own_group + 1) * group - 1, 0));
  const int count = min(share, end - first_x - from);
  if (k >= p.disparities) return;

  const u32 lane_byte = (threadIdx.x & 31) * 4;
  const u8 *colour = (const u8*)colour_table.words + lane_byte, *census = (const u8*)census_table.words + lane_byte;
  // `entry` is the index of the right pixel for the first disparity. The pixels for the other disparities precede it.
  int entry = groups * group - 1 + from - own_group * group - in_group;
  const auto right = [&](int i) { return Word{right_colour[slot_of(i)], right_census[slot_of(i)]}; };
  Word seen_by[per_lane] = {{}, right(entry - 1), right(entry - 2), right(entry - 3)};
  u8* to = cells_of(p, first_x + from, y) + k;
#pragma unroll 4
  for (int i = 0; i < count; ++i) {
    seen_by[0] = right(entry + i);
    const Word own{left_colour[from + i], left_census[from + i]};
    u32 word = 0;
#pragma unroll
    for (int j = 0; j < per_lane; ++j) word += cost_of(own, seen_by[j], colour, census) << 8 * j;
    if (first_x + from + i == p.width) to = cells_of(p, p.width, y) + k;
    store_costs(p, to, word, p.disparities - k);
    to += p.disparities;
#pragma unroll
    for (int j = per_lane - 1; j > 0; --j) seen_by[j] = seen_by[j - 1];
  }
}

// Computes C_R(x, −d) = C_L(x + d, d), which reverses the order of disparities. A word with four disparities of a left
// column belongs to four right pixels.
__device__ __forceinline__ void mirror(const Problem& p) {
  constexpr int pitch = tile + 4;  // spreads the bytes of a column over all banks
  constexpr int warps = items / 32, at_once = 8;
  __shared__ __align__(16) u8 cells[tile * pitch];
  const int tiles = (p.disparities + tile - 1) / tile, y = blockIdx.y;
  const int first_x = blockIdx.x / tiles * tile, first_k = blockIdx.x % tiles * tile;
  const int first_left = first_x + p.min_disparity + first_k, in_tile = threadIdx.x % 32 * 4, k = first_k + in_tile;
  const int most = p.disparities - k;  // number of disparities, counted from the first disparity of the lane
  for (int first = threadIdx.x / 32; first < 2 * tile - 1; first += warps * at_once) {
    u32 words[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      // `before` is the number of right pixels to the left of the column.
      const int column = first + i * warps, x = first_left + column, before = column - in_tile;
      words[i] = 0;
      if (before < 0 || before >= tile + 3 || most <= 0 || x >= p.width + p.beyond) continue;
      const u8* from = cells_of(p, x, y) + k;
      if (p.in_words) {
        words[i] = *(const u32*)from;
      } else {
        for (int b = 0; b < min(most, 4); ++b) words[i] |= (u32)from[b] << 8 * b;
      }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int before = first + i * warps - in_tile;
#pragma unroll
      for (int b = 0; b < 4; ++b)
        if (before - b >= 0 && before - b < tile)
          cells[(before - b) * pitch + tile - 1 - in_tile - b] = (u8)(words[i] >> 8 * b);
    }
  }
  __syncthreads();
  // The right view stores disparities in reverse order, so the last disparity of the tile comes first.
  const int to_k = p.disparities - first_k - tile + in_tile;
#pragma unroll 4
  for (int row = threadIdx.x / 32; row < tile; row += warps) {
    if (first_x + row >= p.width) break;
    u8* to = p.right_costs + ((i64)y * p.width + first_x + row) * p.disparities + to_k;
    const u32 word = *(const u32*)&cells[row * pitch + in_tile];
    if (p.in_words) {
      if (to_k >= 0) *(u32*)to = word;
    } else {
      for (int b = 0; b < 4; ++b)
        if (to_k + b >= 0) to[b] = (u8)(word >> 8 * b);
    }
  }
}

}  // namespace
}  // namespace stereopsis::ad_census_both

using namespace stereopsis::ad_census_both;

extern "C" {

__global__ void __launch_bounds__(items)
    costs_any(const __grid_constant__ Problem p, const __grid_constant__ Tables tables) {
  make_costs(p, tables);
}
__global__ void __launch_bounds__(items) mirror_any(const __grid_constant__ Problem p) { mirror(p); }

}  // extern "C"
