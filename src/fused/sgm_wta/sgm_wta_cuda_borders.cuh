// First pass: every path is followed over the whole image, without sums, and its state is kept only where it enters a
// tile. Paths are independent of one another: no synchronisation at all.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

// Lines of diagonal paths run around a cylinder a little wider than the image, and restart from zeros where they enter
// it: every group has the same work. It follows N adjacent ones.
template <class T, class V, int kDx, int N>
struct Lines {
  static constexpr int entry_byte = penalty_byte(kDx);
  using Cost = typename V::Cost<T, N>;
  using Penalty = typename V::Penalty<N>;

  const Problem& p;
  const bool up;
  const Position<T> at;
  const int sense = up ? -1 : 1;  // of y
  u32 low[N];
  State state[N];

  __device__ __forceinline__ Lines(const Problem& problem, bool upward) : p(problem), up(upward) {
#pragma unroll
    for (int c = 0; c < N; ++c) clear(state[c], low[c]);
  }

  __device__ __forceinline__ bool inside(int x) const { return x >= 0 && x < p.width; }

  // Paths that enter the image here.
  __device__ __forceinline__ void restart(int x) {
    if constexpr (kDx != 0) {
      const int entry = kDx > 0 ? 0 : p.width - 1;
      if ((u32)(entry - x) >= N) return;
#pragma unroll
      for (int c = 0; c < N; ++c)
        if (x + c == entry) clear(state[c], low[c]);
    }
  }

  // All paths leave their band, to go on at x + kDx.
  __device__ __forceinline__ void keep_for_band(bool mine, int x, int band) {
    const bool wanted = mine && band >= 0 && band < p.bands;
    const u32 p2 = both(p.p2);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      normalise(state[c], low[c], p2);
      if (wanted && inside(x + c) && inside(x + c + kDx))
        store_state(row_state<T>(p, up, kDx, band, x + c + kDx), at.lane, pack(state[c]));
    }
  }

  // At most one of the columns steps into the next strip.
  __device__ __forceinline__ void keep_for_strip(bool mine, int x, int next_y) {
    const int hit = ((kDx > 0 ? T::tile_width - 1 : 0) - x) & (T::tile_width - 1), to = x + hit + kDx;
    if (hit >= N || !mine || !inside(x + hit) || !inside(to)) return;
    u8* memory = side_state<T>(p, up, kDx, to / T::tile_width, next_y);
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (c == hit) {
        State copy;
        u32 copied_low = low[c];
#pragma unroll
        for (int j = 0; j < words; ++j) copy[j] = state[c][j];
        normalise(copy, copied_low, both(p.p2));
        store_state(memory, at.lane, pack(copy));
      }
  }

  __device__ __forceinline__ void follow(int bundle) {
    const int tilt = kDx * sense;  // x grows by it when y grows by 1
    const int around = p.around;
    int start = (bundle * T::groups + at.group) * N;
    const bool mine = start < around;
    if (!mine) start = 0;
    const u32 p1 = both(p.p1);
    const typename V::Padding<T> padding(p, at.lane);

    // u = start + tilt · y (mod around), x = u − 4: x − tilt · y stays a multiple of N.
    int y = up ? p.height - 1 : 0, u = start;
    if (kDx != 0) {
      u = (start + tilt * (y % around)) % around;
      u += u < 0 ? around : 0;
    }
    int x = kDx != 0 ? u - columns : u;
    const int last_x = (kDx < 0 ? 0 : around - 1) - columns, back = kDx < 0 ? around : -around;  // where lines wrap

    typename Cost::Cursor cursor(p, kDx == 0 ? straight : tilt > 0 ? falling : rising, x, y, kDx, sense, at.lane);
    Cost costs;
    costs.fetch(cursor);
    Penalty next_penalty(p, up, x, y);
#pragma unroll 1
    for (int remaining = p.height; remaining > 0; --remaining, y += sense) {
      // All costs first: then the next row can be loaded into the same registers.
      State cost[N];
#pragma unroll
      for (int c = 0; c < N; ++c) {
        costs.column(cost[c], c);
        padding.apply(cost[c]);
      }
      const Penalty penalty = next_penalty;
      const bool wraps = kDx != 0 && x == last_x;
      const int next_x = x + (wraps ? kDx + back : kDx);
      if (remaining > 1) {
        cursor.step();
        if (wraps) cursor.jump(back);
        costs.fetch(cursor);
        if (V::looks_ahead && remaining > steps_ahead + 1) {
          Cost::look_ahead(cursor);
          Penalty::look_ahead(p, up, next_x, y + (steps_ahead + 1) * sense);
        }
        next_penalty.fetch(p, up, next_x, y + sense);
      }
      restart(x);
      __syncwarp();
#pragma unroll
      for (int c = 0; c < N; ++c) {
        advance<T>(state[c], cost[c], add(low[c], penalty.of(c, entry_byte)), p1, at.lane);
        low[c] = smallest_of(state[c]);
      }
      reduce<T>(low);
      const bool leaves_band = up ? y % tile_height == 0 : y % tile_height == tile_height - 1;
      if (leaves_band)
        keep_for_band(mine, x, y / tile_height + sense);
      else if (kDx != 0)
        keep_for_strip(mine && remaining > 1, x, y + sense);
      x = next_x;
    }
  }
};

template <class T, class V>
__device__ void follow_rows(const Problem& p, bool leftward, int bundle) {
  using Cost = typename V::Cost<T, columns>;
  const Position<T> at;
  const int row = bundle * T::groups + at.group;
  const bool mine = row < p.height;
  const int y = mine ? row : 0;
  const u32 p1 = both(p.p1), p2 = both(p.p2);
  const typename V::Padding<T> padding(p, at.lane);
  const int quads = (p.width + 3) / 4;
  const int first = leftward ? (quads - 1) * 4 : 0, step = leftward ? -4 : 4;
  State state;
  u32 low[1];
  clear(state, low[0]);
  typename Cost::Cursor cursor(p, straight, first, y, step, 0, at.lane);
  Cost next;
  next.fetch(cursor);
  typename V::Penalty<columns> next_penalty(p, leftward, first, y);
#pragma unroll 1
  for (int i = 0, x = first; i < quads; ++i, x += step) {
    const Cost costs = next;
    const auto penalty = next_penalty;
    if (i + 1 < quads) {
      cursor.step();
      next.fetch(cursor);
      if (V::looks_ahead) Cost::look_ahead(cursor);
      next_penalty.fetch(p, leftward, x + step, y);
    }
#pragma unroll
    for (int k = 0; k < columns; ++k) {
      State cost;
      // Both senses unrolled would double the code: choose the column's costs instead.
      if (leftward)
        costs.column(cost, 3 - k);
      else
        costs.column(cost, k);
      padding.apply(cost);
      const u32 p2_here = leftward ? penalty.of(3 - k, penalty_byte_along_row) : penalty.of(k, penalty_byte_along_row);
      advance<T>(state, cost, add(low[0], p2_here), p1, at.lane);
      low[0] = smallest_of(state);
      reduce<T>(low);
      if (leftward && x + 3 - k >= p.width) clear(state, low[0]);
    }
    const int done = leftward ? x : x + 4;
    const bool leaves = done % T::tile_width == 0;
    if (leaves || done % longest_run == 0) normalise(state, low[0], p2);
    const int strip = x / T::tile_width + (leftward ? -1 : 1);
    if (leaves && mine && strip >= 0 && strip < p.strips)
      store_state(end_state<T>(p, leftward, strip, y), at.lane, pack(state));
  }
}

// One warp a block: blocks are dealt out evenly over the schedulers. Vertical and diagonal lines come first, they
// last longest.
template <class T, class V, int kColumns>
__device__ __forceinline__ void follow_paths(const Problem& p) {
  constexpr int directions = V::diagonals ? 6 : 2;
  const int block = blockIdx.x;
  if (block >= p.line_blocks) {
    const int row_block = block - p.line_blocks;
    if (row_block % 2)
      follow_rows<T, V>(p, true, row_block / 2);
    else
      follow_rows<T, V>(p, false, row_block / 2);
    return;
  }
  const int direction = block % directions, bundle = block / directions;
  const bool up = direction % 2;
  if (direction / 2 == 0) {
    Lines<T, V, 0, kColumns>(p, up).follow(bundle);
  } else if constexpr (V::diagonals) {
    if (direction / 2 == 1)
      Lines<T, V, 1, kColumns>(p, up).follow(bundle);
    else
      Lines<T, V, -1, kColumns>(p, up).follow(bundle);
  }
}

}  // namespace stereopsis::sgm_wta
