// Second pass: a block for each tile starts all paths from the kept states, sums them in shared memory and selects the
// left and right winners there. The sums never leave the chip. A block has two warps, one for each sense of the paths.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

constexpr int tile_threads = 64;
// Four blocks a multiprocessor let all states of 8 paths stay in registers; six spill (0.525 against 0.494 ms for
// 1280 x 960 x 128 on an H100).
template <class V>
constexpr int tile_blocks = V::diagonals ? 4 : 6;

// ---- sums of a pixel in shared memory --------------------------------------------------------------------------
// Word e lies at e + 4 · (e / 32), so that the 16-byte accesses of eight lanes, 32 bytes apart, meet different banks,
// and that x − d = constant is nearly a straight line.
constexpr __host__ __device__ int sum_word(int e) { return e + e / 32 * 4; }
template <class T>
constexpr int pixel_words = sum_word(T::half);
template <class T>
constexpr int tile_pixels = tile_height* T::tile_width;

__device__ __forceinline__ void accumulate(u32* pixel, int lane, const State& part, u32 offset, bool first) {
  uint4* at = reinterpret_cast<uint4*>(pixel + sum_word(lane * words));
#pragma unroll
  for (int i = 0; i < words / 4; ++i) {
    uint4 s = make_uint4(0, 0, 0, 0);
    if (!first) s = at[i];
    s.x += part[4 * i] - offset, s.y += part[4 * i + 1] - offset;
    s.z += part[4 * i + 2] - offset, s.w += part[4 * i + 3] - offset;
    at[i] = s;
  }
}

// ---- horizontal paths ------------------------------------------------------------------------------------------
// A group has some rows of the tile. Both senses run at once and meet in the middle; what comes first writes the sums,
// what comes second adds. One column an iteration keeps the code in the instruction cache.
template <class T, class V, bool kLeftward>
__device__ __forceinline__ void tile_rows(const Problem& p, u32* sums, int strip, int y0) {
  using Cost = typename V::Cost<T, columns>;
  constexpr int rows = tile_height / T::groups > 0 ? tile_height / T::groups : 1;
  constexpr int step = kLeftward ? -1 : 1, first = kLeftward ? T::tile_width - 1 : 0;
  constexpr int row_words = T::tile_width * pixel_words<T>;
  const Position<T> at;
  const u32 p1 = both(p.p1), p2 = both(p.p2);
  const typename V::Padding<T> padding(p, at.lane);
  const int x0 = strip * T::tile_width;
  const bool enters = strip != (kLeftward ? p.strips - 1 : 0);
  const auto y = [&](int r) { return min(y0 + at.group * rows + r, p.height - 1); };
  const auto costs_at = [&](int x, int r) {
    return typename Cost::Cursor(p, straight, x / 4 * 4, y(r), 0, 0, at.lane);
  };

  State state[rows];
  u32 low[rows], p2_here[rows];
  Cost costs[rows];
  const auto p2_at = [&](int x, int r) {
    return typename V::Penalty<1>(p, kLeftward, x, y(r)).of(0, penalty_byte_along_row);
  };
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    clear(state[r], low[r]);
    p2_here[r] = p2_at(x0 + first, r);
    costs[r].fetch(costs_at(x0 + first, r));
    if (enters) unpack(state[r], load_state(end_state<T>(p, kLeftward, strip, y(r)), at.lane));
  }
  u32* pixel = sums + at.group * rows * row_words + first * pixel_words<T>;
#pragma unroll 1
  for (int i = 0; i < T::tile_width; ++i, pixel += step * pixel_words<T>) {
    const int x = x0 + first + step * i;
    if (i == T::tile_width / 2) __syncthreads();
    if (i && i % longest_run == 0) {
#pragma unroll
      for (int r = 0; r < rows; ++r) normalise(state[r], low[r], p2);
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      State cost;
      costs[r].column(cost, kLeftward ? 3 : 0);
      costs[r].template shift<kLeftward>();
      padding.apply(cost);
      advance<T>(state[r], cost, add(low[r], p2_here[r]), p1, at.lane);
      accumulate(pixel + r * row_words, at.lane, state[r], low[r], i < T::tile_width / 2);
      low[r] = smallest_of(state[r]);
      p2_here[r] = p2_at(x + step, r);
    }
    if (i % 4 == 3 && i + 1 < T::tile_width) {
#pragma unroll
      for (int r = 0; r < rows; ++r) costs[r].fetch(costs_at(x + step, r));
    }
    reduce<T>(low);
    if (kLeftward && x >= p.width) {
#pragma unroll
      for (int r = 0; r < rows; ++r) clear(state[r], low[r]);
    }
  }
}

// ---- vertical and diagonal paths -------------------------------------------------------------------------------
// States in which the paths of a group's four columns enter the tile; zeros where they begin. All loads are under
// way together before the first is used.
template <class T, class V>
struct Entry {
  Packed vertical[columns], rightward[columns], leftward[columns];
  __device__ __forceinline__ Entry(const Problem& p, int strip, int band, bool up) {
    const Position<T> at;
    const bool first_band = up ? band == p.bands - 1 : band == 0;
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const int x = strip * T::tile_width + at.group * columns + c;
      vertical[c] = rightward[c] = leftward[c] = Packed{};
      if (first_band || x >= p.width) continue;
      vertical[c] = load_state_early(row_state<T>(p, up, 0, band, x), at.lane);
      if (V::diagonals && x > 0) rightward[c] = load_state_early(row_state<T>(p, up, 1, band, x), at.lane);
      if (V::diagonals && x < p.width - 1) leftward[c] = load_state_early(row_state<T>(p, up, -1, band, x), at.lane);
    }
  }
};

// The states of one direction in a group's columns, and their minima.
struct Front {
  State state[columns];
  u32 low[columns];

  __device__ __forceinline__ explicit Front(const Packed (&entry)[columns]) {
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      unpack(state[c], entry[c]);
      low[c] = 0;
    }
  }
  // Moves all states to the next column to the right (kSense 1) or left (−1): inside the group in registers, across
  // groups by shuffles, and from the tile's side at its edge.
  template <class T, int kSense>
  __device__ __forceinline__ void move(const State& from_side, bool edge) {
    constexpr int last = kSense > 0 ? columns - 1 : 0, first = columns - 1 - last;
    const auto shuffle = [](u32 v) {
      return kSense > 0 ? __shfl_up_sync(everywhere, v, T::lanes) : __shfl_down_sync(everywhere, v, T::lanes);
    };
#pragma unroll
    for (int j = 0; j < words; ++j) {
      const u32 in = shuffle(state[last][j]);
#pragma unroll
      for (int c = last; c != first; c -= kSense) state[c][j] = state[c - kSense][j];
      state[first][j] = edge ? from_side[j] : in;
    }
    const u32 in = shuffle(low[last]);
#pragma unroll
    for (int c = last; c != first; c -= kSense) low[c] = low[c - kSense];
    low[first] = edge ? 0 : in;
  }
};

// A group has four columns in all rows. kPartial: the strip reaches beyond the right edge, where leftward paths begin
// inside the tile.
template <class T, class V, bool kPartial>
__device__ __forceinline__ void tile_columns(const Problem& p, u32* sums, int strip, int band, bool up) {
  using Cost = typename V::Cost<T, columns>;
  const Position<T> at;
  const u32 p1 = both(p.p1);
  const typename V::Padding<T> padding(p, at.lane);
  const int y0 = band * tile_height, rows = min(tile_height, p.height - y0);
  const int x0 = strip * T::tile_width + at.group * columns;
  const bool left_edge = at.group == 0, right_edge = at.group == T::groups - 1;

  const Entry<T, V> entry(p, strip, band, up);
  // At column c: the state that the pixel (c, next row) continues.
  Front vertical(entry.vertical), rightward(entry.rightward), leftward(entry.leftward);
  const int sense = up ? -1 : 1;
  int r = up ? rows - 1 : 0;
  const int half = up ? rows - rows / 2 : rows / 2;  // rows before the two senses meet
  typename Cost::Cursor cursor(p, straight, x0, y0 + r, 0, sense, at.lane);
  Cost costs;
  costs.fetch(cursor);
  typename V::Penalty<columns> next_penalty(p, up, x0, y0 + r);
#pragma unroll 1
  for (int i = 0; i < rows; ++i, r += sense) {
    if (i == half) __syncthreads();
    const bool more = i + 1 < rows;
    Packed side = {};
    if (V::diagonals && more) {
      const u8* side_at = side_state<T>(p, up, left_edge ? 1 : -1, strip, y0 + r + sense);
      if (left_edge ? strip > 0 : right_edge && strip < p.strips - 1) side = load_state(side_at, at.lane);
    }
    const auto penalty = next_penalty;
    if (more) next_penalty.fetch(p, up, x0, y0 + r + sense);
    u32* pixel = sums + (r * T::tile_width + at.group * columns) * pixel_words<T>;
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      State cost, sum;
      costs.column(cost, c);
      padding.apply(cost);
      if (c == columns - 1) {
        // Into the registers that were just used up; unconditional, or it would be loaded elsewhere and copied.
        if (more) cursor.step();
        costs.fetch(cursor);
      }
      u32 offset = vertical.low[c];
      const auto go_on = [&](Front& front, int dx) {
        advance<T>(front.state[c], cost, add(front.low[c], penalty.of(c, penalty_byte(dx))), p1, at.lane);
        front.low[c] = smallest_of(front.state[c]);
      };
      if (V::diagonals) offset += rightward.low[c] + leftward.low[c];
      go_on(vertical, 0);
      if (V::diagonals) {
        go_on(rightward, 1);
        go_on(leftward, -1);
      }
#pragma unroll
      for (int j = 0; j < words; ++j) {
        sum[j] = vertical.state[c][j];
        if (V::diagonals) sum[j] += rightward.state[c][j] + leftward.state[c][j];
      }
      accumulate(pixel + c * pixel_words<T>, at.lane, sum, offset, false);
    }
    reduce<T>(vertical.low);
    if constexpr (V::diagonals) {
      reduce<T>(rightward.low);
      reduce<T>(leftward.low);
      // A path that leaves the image ends; its column's next state starts from zeros.
      if (kPartial) {
#pragma unroll
        for (int c = 0; c < columns; ++c)
          if (x0 + c >= p.width) clear(leftward.state[c], leftward.low[c]);
      }
      __syncwarp();
      State from_side;
      unpack(from_side, side);
      rightward.template move<T, 1>(from_side, left_edge);
      leftward.template move<T, -1>(from_side, right_edge);
    }
  }
  if (half == rows) __syncthreads();  // one row only: the other sense waits in the middle all the same
}

// ---- selection -------------------------------------------------------------------------------------------------
// Sums stay below 4095, so that S · 16 + (a 4-bit position) is a 16-bit number.
constexpr u32 no_sum = 0x0fff0fff;

template <class T>
__device__ __forceinline__ int sum_at(const u32* pixel, int d) {
  const int e = d < T::half ? d : d - T::half;
  return reinterpret_cast<const std::uint16_t*>(pixel)[2 * sum_word(e) + (d >= T::half)];
}

// Candidates of pixel x: first <= d < end (d counts from min_disparity), less those with a masked right pixel.
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

// The winner of a pixel, in a word: 12 bits of its sum, 12 of the lowest sum more than one disparity away (only where
// it is asked for), 8 of d. A sum of none is no winner.
struct Winner {
  static constexpr u32 none = 0xfff;
  u32 word;
  __device__ __forceinline__ static Winner of(u32 sum, u32 second, u32 d) { return {sum << 20 | second << 8 | d}; }
  __device__ __forceinline__ u32 sum() const { return word >> 20; }
  __device__ __forceinline__ u32 second() const { return word >> 8 & 0xfff; }
  __device__ __forceinline__ int d() const { return word & 0xff; }
};
__device__ __forceinline__ bool wants_second(const Problem& p) { return p.uniqueness != 0 || p.confidence != nullptr; }

// Keys of sums that may not win are all ones.
template <class T, class May>
__device__ __forceinline__ void mask_keys(State& key, int d0, const May& may_win) {
#pragma unroll
  for (int j = 0; j < words; ++j) {
    if (!may_win(d0 + j)) key[j] |= 0xffff;
    if (!may_win(d0 + j + T::half)) key[j] |= 0xffff0000;
  }
}

// A group takes a pixel: first over a lane's words, then over lanes.
template <class T>
__device__ __forceinline__ void find_left(const Problem& p, const u32* sums, Winner* winners, int strip, int y0) {
  const Position<T> at;
  const int d0 = at.lane * words, x_first = strip * T::tile_width, x_last = x_first + T::tile_width - 1;
  // Where every candidate of every pixel of the tile exists, nothing needs to be masked.
  const bool masked = first_candidate(p, x_last) > 0 || end_candidate(p, x_first) < T::range;
#pragma unroll 1
  for (int i = threadIdx.x / T::lanes; i < tile_pixels<T>; i += tile_threads / T::lanes) {
    const uint4* pixel = reinterpret_cast<const uint4*>(sums + i * pixel_words<T> + sum_word(d0));
    State key;  // S · 16 + j
#pragma unroll
    for (int k = 0; k < words; k += 4) {
      const uint4 s = pixel[k / 4];
      key[k] = s.x * 16 + both(k), key[k + 1] = s.y * 16 + both(k + 1);
      key[k + 2] = s.z * 16 + both(k + 2), key[k + 3] = s.w * 16 + both(k + 3);
    }
    const int x = x_first + i % T::tile_width, y = min(y0 + i / T::tile_width, p.height - 1);
    if (masked) {
      const int first = first_candidate(p, x), end = end_candidate(p, x);
      mask_keys<T>(key, d0, [&](int d) { return d >= first && d < end; });
    }
    if (p.mask_right != nullptr) mask_keys<T>(key, d0, [&](int d) { return right_usable(p, x, y, d); });
    const u32 m = smallest_of(key);
    u32 winner = min((m & 0xfff0) << 12 | (d0 + (m & 15)), (m >> 20) << 16 | (T::half + d0 + (m >> 16 & 15)));
#pragma unroll
    for (int step = T::lanes / 2; step; step /= 2) winner = min(winner, __shfl_xor_sync(everywhere, winner, step));
    u32 second = Winner::none;
    if (wants_second(p)) {
      const int best = winner & 0xffff;
      mask_keys<T>(key, d0, [&](int d) { return abs(d - best) > 1; });
      const u32 rest = smallest_of(key);
      second = min(rest & 0xffff, rest >> 16) >> 4;
#pragma unroll
      for (int step = T::lanes / 2; step; step /= 2) second = min(second, __shfl_xor_sync(everywhere, second, step));
    }
    if (at.lane == 0) winners[i] = Winner::of(winner >> 16, second, winner & 0xffff);
  }
}

// wta::subpixel_offset of the sums a, b, c at d − 1, d, d + 1; b is the smallest.
__device__ __forceinline__ float subpixel_offset(const Problem& p, int a, int b, int c) {
  const int denominator = p.subpixel == 1 ? a - 2 * b + c : max(a, c) - b;
  return p.subpixel == 0 || denominator == 0 ? 0.0f : __fdiv_rn((float)(a - c), (float)(2 * denominator));
}

struct Selected {
  float disparity;
  u8 validity;  // as in validity::
  float confidence;
};

template <class T>
__device__ __forceinline__ Selected select_left(const Problem& p, const u32* pixel, Winner winner, int x, int y) {
  const float invalid = __int_as_float(0x7fc00000);
  const int first = first_candidate(p, x), end = end_candidate(p, x), d = winner.d();
  const u32 lowest = winner.sum(), second = winner.second();
  if (!left_usable(p, x, y)) return {invalid, 16, 0.0f};
  if (lowest == Winner::none) return {invalid, 1, 0.0f};
  if (p.uniqueness != 0 && second != Winner::none && second * (100 - p.uniqueness) < lowest * 100)
    return {invalid, 4, 0.0f};
  const bool between = d > first && d + 1 < end && right_usable(p, x, y, d - 1) && right_usable(p, x, y, d + 1);
  const float offset = between ? subpixel_offset(p, sum_at<T>(pixel, d - 1), lowest, sum_at<T>(pixel, d + 1)) : 0.0f;
  const float ratio = second == 0 ? 1.0f : second == Winner::none ? 0.0f : __fdiv_rn((float)lowest, (float)second);
  return {(float)(d + p.min_disparity) + offset, 0, 1.0f - ratio};
}

// Sub-pixel part and output, a thread a pixel.
template <class T>
__device__ __forceinline__ void write_left(const Problem& p, const u32* sums, const Winner* winners, int strip,
                                           int y0) {
  for (int i = threadIdx.x; i < tile_pixels<T>; i += tile_threads) {
    const int y = y0 + i / T::tile_width, x = strip * T::tile_width + i % T::tile_width;
    if (x >= p.width || y >= p.height) continue;
    const Selected selected = select_left<T>(p, sums + i * pixel_words<T>, winners[i], x, y);
    p.disparity[y * p.disparity_pitch + x] = selected.disparity;
    p.validity[y * p.validity_pitch + x] = selected.validity;
    if (p.confidence != nullptr) p.confidence[y * p.confidence_pitch + x] = selected.confidence;
  }
}

// Sums of columns outside the image, and of masked pixels, never win.
template <class T>
__device__ __forceinline__ void blank_unusable(const Problem& p, u32* sums, int strip, int y0) {
  for (int i = threadIdx.x; i < tile_pixels<T> * pixel_words<T>; i += tile_threads) {
    const int pixel = i / pixel_words<T>, x = strip * T::tile_width + pixel % T::tile_width;
    const int y = min(y0 + pixel / T::tile_width, p.height - 1);
    if (x >= p.width || !left_usable(p, x, y)) sums[i] = no_sum;
  }
}

// Right winners: a thread takes the pixels of a row with the same x − d modulo half, that is two values of x − d (one
// for x < turn, one from there on), and two more in the upper halves. The lowest x is the lowest d.
template <class T, bool kMasked>
struct RightWinners {
  static constexpr int part_columns = T::tile_width < 16 ? T::tile_width : 16;  // x fits the 4-bit position

  const Problem& p;
  u32 before = ~0u, after = ~0u;  // x < turn: x − d = turn − half; else x − d = turn

  __device__ __forceinline__ explicit RightWinners(const Problem& problem) : p(problem) {}

  __device__ __forceinline__ u32 key(u32 sum, int x, int d) const {
    const u32 all = sum * 16 + both(x);
    if (!kMasked) return all;
    return all | (d >= p.disparities ? 0xffffu : 0u) | (d + T::half >= p.disparities ? 0xffff0000u : 0u);
  }
  __device__ __forceinline__ void find(const u32* row, int turn) {
    if (__all_sync(everywhere, turn >= part_columns)) {
      const int d = T::half - turn;
#pragma unroll
      for (int x = 0; x < part_columns; ++x)
        before = smaller(before, key(row[d + x * (pixel_words<T> + 1) + (d + x) / 32 * 4], x, d + x));
    } else {
#pragma unroll 4
      for (int x = 0; x < part_columns; ++x) {
        const int d = (x - turn) & (T::half - 1);
        const u32 k = key(row[x * pixel_words<T> + sum_word(d)], x, d);
        before = smaller(before, x < turn ? k : ~0u);
        after = smaller(after, x < turn ? ~0u : k);
      }
    }
  }
  // Tiles are combined by an atomic minimum of (S, d).
  __device__ __forceinline__ void offer(u32* row, int x, u32 sum_and_column, int d_of_column_0) const {
    if (sum_and_column >= 0xfff0 || x < 0 || x >= p.width) return;
    atomicMin(row + x, sum_and_column >> 4 << 16 | (d_of_column_0 + (int)(sum_and_column & 15)));
  }
  __device__ __forceinline__ void offer_all(u32* row, int x, int turn) const {
    offer(row, x, after & 0xffff, -turn);
    offer(row, x - T::half, before & 0xffff, T::half - turn);
    offer(row, x - T::half, after >> 16, T::half - turn);
    offer(row, x - T::range, before >> 16, T::range - turn);
  }
};

template <class T, bool kMasked>
__device__ __forceinline__ void select_right(const Problem& p, const u32* sums, int strip, int y0) {
  using Right = RightWinners<T, kMasked>;
  constexpr int parts = T::tile_width / Right::part_columns;
  const int rows = min(tile_height, p.height - y0);
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * parts * T::half; i += tile_threads) {
    const int turn = i % T::half, part = i / T::half % parts, r = i / (T::half * parts);
    const int first = part * Right::part_columns;
    Right right(p);
    right.find(sums + (r * T::tile_width + first) * pixel_words<T>, turn);
    right.offer_all(p.right_best + (i64)(y0 + r) * p.width, strip * T::tile_width + first + turn - p.min_disparity,
                    turn);
  }
}

template <class T, class V>
__device__ __forceinline__ void sum_and_select(const Problem& p) {
  __shared__ alignas(16) u32 sums[tile_pixels<T> * pixel_words<T>];
  __shared__ Winner winners[tile_pixels<T>];
  const int strip = blockIdx.x % p.strips, band = blockIdx.x / p.strips, y0 = band * tile_height;
  const bool partial = (strip + 1) * T::tile_width > p.width;
  const bool second = threadIdx.x >= 32;
  if (second)
    tile_rows<T, V, true>(p, sums, strip, y0);
  else
    tile_rows<T, V, false>(p, sums, strip, y0);
  __syncthreads();
  if (V::diagonals && partial)
    tile_columns<T, V, true>(p, sums, strip, band, second);
  else
    tile_columns<T, V, false>(p, sums, strip, band, second);
  __syncthreads();
  if (partial || p.mask_left != nullptr) {
    blank_unusable<T>(p, sums, strip, y0);
    __syncthreads();
  }
  find_left<T>(p, sums, winners, strip, y0);
  if (p.right_best != nullptr) select_right<T, V::template Padding<T>::masks_sums>(p, sums, strip, y0);
  __syncthreads();
  write_left<T>(p, sums, winners, strip, y0);
}

}  // namespace stereopsis::sgm_wta
