// The sums of a tile in shared memory, and the search for the left and right winners.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

template <class T>
constexpr int tile_threads = 64 * T::sense_warps;

// ---- sums of a pixel in shared memory -------------------------------------------------------------------------- Word
// e of a pixel is stored at e + 4 · (e / 32), so that the 16-byte accesses of eight lanes, 32 bytes apart, use
// different banks. With 64 disparities, four lanes hold a pixel. Gaps after every 16 words and between rows then
// separate the lanes of two groups.
template <class T>
constexpr __host__ __device__ int sum_word(int e) {
  return e + e / (T::lanes < 8 ? 16 : 32) * 4;
}
template <class T>
constexpr int pixel_words = sum_word<T>(T::half - 1) + 1;
template <class T>
constexpr int row_words = (T::lanes < 8 ? 16 : 0) + T::tile_width* pixel_words<T>;
// Returns the sums of the pixel in row r and column c of the tile.
template <class T>
__device__ __forceinline__ u32* pixel_at(u32* sums, int r, int c) {
  return sums + r * row_words<T> + c * pixel_words<T>;
}
// Returns the words of a pixel that a lane processes.
template <class T>
__device__ __forceinline__ u32* share_of(u32* pixel, int lane) {
  return pixel + sum_word<T>(lane * T::words);
}

// ---- selection -------------------------------------------------------------------------------------------------
// Sums stay below 4095, so that S · 16 + (a 4-bit position) is a 16-bit number.
constexpr u32 no_sum = 0x0fff0fff;

// Minima of such numbers, which exceed the range of half floats.
__device__ __forceinline__ u32 smaller_key(u32 a, u32 b) { return __vminu2(a, b); }
template <int kWords>
__device__ __forceinline__ u32 smallest_key_of(const u32 (&v)[kWords]) {
  u32 m = v[0];
#pragma unroll
  for (int j = 1; j + 1 < kWords; j += 2) m = __vimin3_u16x2(m, v[j], v[j + 1]);
  return smaller_key(m, v[kWords - 1]);
}

template <class T>
__device__ __forceinline__ int sum_at(const u32* pixel, int d) {
  const int e = d < T::half ? d : d - T::half;
  return reinterpret_cast<const std::uint16_t*>(pixel)[2 * sum_word<T>(e) + (d >= T::half)];
}

// Candidates of pixel x: first <= d < end, where d is counted from min_disparity, except those whose right pixel is
// masked.
__device__ __forceinline__ int first_candidate(const Problem& p, int x) {
  return p.border_candidates ? 0 : max(0, x - p.min_disparity - (p.width - 1));
}
__device__ __forceinline__ int end_candidate(const Problem& p, int x) {
  return p.border_candidates ? p.disparities : min(p.disparities, x - p.min_disparity + 1);
}
__device__ __forceinline__ bool right_usable(const Problem& p, int x, int y, int d) {
  return p.mask_right == nullptr ||
         p.mask_right[y * p.mask_right_pitch + clamp_column(p, x - p.min_disparity - d)] != 0;
}
__device__ __forceinline__ bool left_usable(const Problem& p, int x, int y) {
  return p.mask_left == nullptr || p.mask_left[y * p.mask_left_pitch + x] != 0;
}

// The winner of a pixel: its sum, the lowest sum more than one disparity away (only if requested), and d. Sums have 12
// bits. Absent sums never win.
struct Winner {
  static constexpr u32 none = 0xfff;
  u32 sum, second;
  int d;
};
__device__ __forceinline__ bool wants_second(const Problem& p) { return p.uniqueness != 0 || p.confidence != nullptr; }

// Returns wta::subpixel_offset for the sums a, b, c at d − 1, d, d + 1, where b is the smallest sum.
__device__ __forceinline__ float subpixel_offset(const Problem& p, int a, int b, int c) {
  const int denominator = p.subpixel == 1 ? a - 2 * b + c : max(a, c) - b;
  return p.subpixel == 0 || denominator == 0 ? 0.0f : __fdiv_rn((float)(a - c), (float)(2 * denominator));
}

struct Selected {
  float disparity;
  u8 validity;  // a value of namespace validity
  float confidence;
};

template <class T>
__device__ __forceinline__ Selected select_left(const Problem& p, const u32* pixel, Winner winner, int x, int y) {
  const float invalid = __int_as_float(0x7fc00000);
  const int first = first_candidate(p, x), end = end_candidate(p, x), d = winner.d;
  const u32 lowest = winner.sum, second = winner.second;
  if (!left_usable(p, x, y)) return {invalid, 16, 0.0f};
  if (lowest == Winner::none) return {invalid, 1, 0.0f};
  if (p.uniqueness != 0 && second != Winner::none && second * (100 - p.uniqueness) < lowest * 100)
    return {invalid, 4, 0.0f};
  const bool between = d > first && d + 1 < end && right_usable(p, x, y, d - 1) && right_usable(p, x, y, d + 1);
  const float offset = between ? subpixel_offset(p, sum_at<T>(pixel, d - 1), lowest, sum_at<T>(pixel, d + 1)) : 0.0f;
  const float ratio = second == 0 || second == Winner::none ? 1.0f : __fdiv_rn((float)lowest, (float)second);
  return {(float)(d + p.min_disparity) + offset, 0, 1.0f - ratio};
}

template <class T>
__device__ __forceinline__ void write_left(const Problem& p, const u32* pixel, Winner winner, int x, int y) {
  if (x >= p.width || y >= p.height) return;
  const Selected selected = select_left<T>(p, pixel, winner, x, y);
  p.disparity[y * p.disparity_pitch + x] = selected.disparity;
  p.validity[y * p.validity_pitch + x] = selected.validity;
  if (p.confidence != nullptr) p.confidence[y * p.confidence_pitch + x] = selected.confidence;
}

// Loads the sums of a lane.
template <class T>
__device__ __forceinline__ void load_sums(StateOf<T>& s, const u32* pixel, int lane) {
  const uint4* at = reinterpret_cast<const uint4*>(pixel + sum_word<T>(lane * T::words));
#pragma unroll
  for (int k = 0; k < T::words; k += 4) {
    const uint4 v = at[k / 4];
    s[k] = v.x, s[k + 1] = v.y, s[k + 2] = v.z, s[k + 3] = v.w;
  }
}
// Replaces sums that must not win by `value`.
template <class T, class May>
__device__ __forceinline__ void mask(StateOf<T>& s, u32 value, int lane, const May& may_win) {
#pragma unroll
  for (int j = 0; j < T::words; ++j) {
    const int d = lane * T::words + j;
    const u32 out = (may_win(d) ? 0 : 0xffffu) | (may_win(d + T::half) ? 0 : 0xffff0000u);
    s[j] = (s[j] & ~out) | (value & out);
  }
}

// Sums of columns outside the image, of masked pixels, and of absent candidates must not win in the left or the right
// view.
template <class T>
__device__ __forceinline__ void blank(const Problem& p, u32* sums, int strip, int y0) {
  const Position<T> at;
#pragma unroll 1
  for (int i = threadIdx.x / T::lanes; i < tile_height * T::tile_width; i += tile_threads<T> / T::lanes) {
    const int r = i / T::tile_width, c = i % T::tile_width;
    const int x = strip * T::tile_width + c, y = min(y0 + r, p.height - 1);
    const bool usable = x < p.width && left_usable(p, x, y);
    const int first = first_candidate(p, x), end = usable ? end_candidate(p, x) : 0;
    u32* const pixel = pixel_at<T>(sums, r, c);
    StateOf<T> s;
    load_sums<T>(s, pixel, at.lane);
    mask<T>(s, no_sum, at.lane, [&](int d) { return d >= first && d < end; });
    if (p.mask_right != nullptr) mask<T>(s, no_sum, at.lane, [&](int d) { return right_usable(p, x, y, d); });
    uint4* to = reinterpret_cast<uint4*>(share_of<T>(pixel, at.lane));
#pragma unroll
    for (int i = 0; i < T::words / 4; ++i) to[i] = make_uint4(s[4 * i], s[4 * i + 1], s[4 * i + 2], s[4 * i + 3]);
  }
}
template <class T>
__device__ __forceinline__ bool needs_blanks(const Problem& p, int strip) {
  const int first = strip * T::tile_width, last = first + T::tile_width - 1;
  return last >= p.width || p.mask_left != nullptr || p.mask_right != nullptr || first_candidate(p, last) > 0 ||
         end_candidate(p, first) < T::range;
}

// Returns the lowest sum more than one disparity away from `best`.
template <class T>
__device__ __forceinline__ u32 second_of(const u32* pixel, int best, int lane) {
  StateOf<T> s;
  load_sums<T>(s, pixel, lane);
  mask<T>(s, no_sum, lane, [&](int d) { return abs(d - best) > 1; });
  const u32 lowest = smallest_of(s);
  u32 second = min(lowest & 0xffff, lowest >> 16);
#pragma unroll
  for (int step = T::lanes / 2; step; step /= 2) second = min(second, __shfl_xor_sync(everywhere, second, step));
  return second;
}

// Computes the minima over the lanes of a group, for N values: lane i receives the minimum of value i, or of values 2 i
// and 2 i + 1 if there are half as many lanes.
template <class T, int N>
__device__ __forceinline__ void reduce_each(u32 (&v)[N], int lane) {
  constexpr int lanes = T::lanes < N ? T::lanes : N;
  int count = N;
#pragma unroll
  for (int step = lanes / 2; step; step /= 2) {
    count /= 2;
    const bool upper = lane & step;
#pragma unroll
    for (int i = 0; i < N / 2; ++i)
      if (i < count) {
        const u32 other = __shfl_xor_sync(everywhere, upper ? v[i] : v[i + count], step);
        v[i] = min(upper ? v[i + count] : v[i], other);
      }
  }
#pragma unroll
  for (int step = N; step < T::lanes; step *= 2) v[0] = min(v[0], __shfl_xor_sync(everywhere, v[0], step));
}

// Number of columns of a row that a group searches at once; x must fit in the 4-bit position.
template <class T>
constexpr int part_columns = T::tile_width < 16 ? T::tile_width : 16;
template <class T>
constexpr int parts = T::tile_width / part_columns<T>;
template <class T>
using Finished = std::uint16_t[tile_height * parts<T>][part_columns<T>];

// Offers the existing right winners S · 16 + x of a row, ordered by x − d. An atomic minimum of (S, d) combines them
// over tiles. The minima pass through the memory of the row's sums, which are no longer needed.
template <class T>
__device__ __forceinline__ void offer_right(const Problem& p, const StateOf<T>& right, const std::uint16_t* finished,
                                            u32* row, int x_first, int y) {
  constexpr int count = part_columns<T> + T::range;
  const int lane = threadIdx.x % T::lanes;
  // Indexed by x − d, where the index i stands for i − range.
  std::uint16_t* const best = reinterpret_cast<std::uint16_t*>(row);
  for (int i = lane; i < part_columns<T>; i += T::lanes) best[i] = finished[i];
#pragma unroll
  for (int j = 0; j < T::words; ++j) {
    const int low = count - 1 - (lane * T::words + j);
    best[low] = right[j];
    best[low - T::half] = right[j] >> 16;
  }
  __syncwarp();
  if (y >= p.height) return;
  const int x_0 = x_first - p.min_disparity - T::range;
  u32* const to = p.right_best + (i64)y * p.width + x_0;
  const int first = max(1, -x_0), end = min(count, p.width - x_0);
  for (int i = first + lane; i < end; i += T::lanes) {
    const u32 key = best[i];
    if (key < 0xfff0) atomicMin(to + i, key >> 4 << 16 | (T::range - i + (int)(key & 15)));
  }
}

// Selects left and right winners in one walk along a row. In addition to the sums of a pixel, a lane holds, for each of
// its d, the lowest sum found so far along x − d = constant. From one column to the next, these lowest sums move up by
// one disparity. Values that move beyond the last disparity are final.
template <class T>
__device__ __forceinline__ void select(const Problem& p, u32* sums, Finished<T>& finished, int strip, int y0) {
  constexpr int batch = part_columns<T> < 8 ? part_columns<T> : 8, batch_lanes = T::lanes < batch ? T::lanes : batch, per_lane = batch / batch_lanes;
  const int lane = threadIdx.x % T::lanes;
  const u32 d_low = lane * T::words, d_high = d_low + T::half;
  const u32 entering = lane == 0 ? 0x1044 : 0x3210;
#pragma unroll 1
  for (int unit = threadIdx.x / T::lanes; unit < tile_height * parts<T>; unit += tile_threads<T> / T::lanes) {
    const int r = unit % tile_height, y = y0 + r, x_part = unit / tile_height * part_columns<T>;
    u32* const row = pixel_at<T>(sums, r, x_part);
    StateOf<T> right;
#pragma unroll
    for (int j = 0; j < T::words; ++j) right[j] = ~0u;
#pragma unroll 1
    for (int x0 = 0; x0 < part_columns<T>; x0 += batch) {
      const u32* const pixels = row + x0 * pixel_words<T>;
      u32 winner[batch];  // S << 16 | d
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        StateOf<T> s, key;
        load_sums<T>(s, pixels + i * pixel_words<T>, lane);
#pragma unroll
        for (int j = 0; j < T::words; ++j) key[j] = s[j] * 16 + both(j);
        const u32 m = smallest_key_of(key);
        winner[i] = min((m & 0xfff0) << 12 | (m & 15) | d_low, (m >> 4 & 0x0fff0000) | (m >> 16 & 15) | d_high);

        const u32 in = __shfl_sync(everywhere, right[T::words - 1], lane - 1, T::lanes);
        if (lane == 0) finished[unit][x0 + i] = in >> 16;
        const u32 column = both(x0 + i);
#pragma unroll
        for (int j = T::words - 1; j; --j) right[j] = smaller_key(right[j - 1], s[j] * 16 + column);
        right[0] = smaller_key(__byte_perm(in, ~0u, entering), s[0] * 16 + column);
      }
      reduce_each<T>(winner, lane);
      u32 second[per_lane];
#pragma unroll
      for (int k = 0; k < per_lane; ++k) second[k] = Winner::none;
      if (wants_second(p)) {
#pragma unroll
        for (int k = 0; k < per_lane; ++k)
#pragma unroll 1
          for (int i = 0; i < batch_lanes; ++i) {
            const int best = __shfl_sync(everywhere, winner[k], i, T::lanes) & 0xffff;
            const u32 found = second_of<T>(pixels + (i * per_lane + k) * pixel_words<T>, best, lane);
            if (lane % batch_lanes == i) second[k] = found;
          }
      }
      if (lane < batch_lanes) {
#pragma unroll
        for (int k = 0; k < per_lane; ++k) {
          const int i = lane * per_lane + k;
          write_left<T>(p, pixels + i * pixel_words<T>, Winner{winner[k] >> 16, second[k], static_cast<int>(winner[k] & 0xffff)},
                        strip * T::tile_width + x_part + x0 + i, y);
        }
      }
    }
    __syncwarp();
    if (p.right_best != nullptr) offer_right<T>(p, right, finished[unit], row, strip * T::tile_width + x_part, y);
    __syncwarp();
  }
}

}  // namespace stereopsis::sgm_wta
