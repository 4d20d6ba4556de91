// First pass: every path is followed over the whole image, without sums, and its state is kept only where it enters a
// tile. Paths are independent of one another: no synchronisation at all.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

// Lines of diagonal paths run around a cylinder a little wider than the image, a whole number of strips around, and
// restart from zeros where they enter the image: every group has the same work. It follows N adjacent ones. Groups of a
// warp are `line_stride` apart, so that most of them meet a strip in the same row.
//
// In a row a path waits longest for the minimum over its lanes. What does not depend on it goes on meanwhile: the last
// exchange is taken up in the next row only, costs are evaluated a row ahead, and their features are loaded two rows
// before that. What is not done in every row is known beforehand: the rows that meet a strip as bits, the next one that
// ends a band or wraps as a number.
template <class T, class V>
struct Lines {
  static constexpr int N = line_columns, buffers = 2, rows_ahead = buffers + 1;
  using Cost = typename V::Cost<T, N>;
  using Penalty = typename V::Penalty<N>;
  static_assert(rows_ahead <= row_margin);

  const Problem& p;
  const bool up;
  const int dx;  // all directions share their code: it has to stay in the instruction cache
  const Position<T> at;
  const int sense = up ? -1 : 1, first_y = up ? p.height - 1 : 0;  // of y
  // Where diagonals wrap; x runs from −1 to around − 2.
  const int last_x = dx < 0 ? -1 : p.around - 2, back = dx < 0 ? p.around : -p.around;
  u32 low[N];
  State state[N];

  __device__ __forceinline__ Lines(const Problem& problem, bool upward, int dx_) : p(problem), up(upward), dx(dx_) {
#pragma unroll
    for (int c = 0; c < N; ++c) clear(state[c], low[c]);
  }

  __device__ __forceinline__ bool inside(int x) const { return (u32)x < (u32)p.width; }

  // Paths that enter the image here.
  __device__ __forceinline__ void restart(int x) {
    const int entry = dx > 0 ? 0 : p.width - 1;
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const u32 goes_on = x + c == entry ? 0 : ~0u;
#pragma unroll
      for (int j = 0; j < words; ++j) state[c][j] &= goes_on;
      low[c] &= goes_on;
    }
  }

  // All paths leave their band, to go on at x + dx.
  __device__ __forceinline__ void keep_for_band(bool mine, int x, int band) {
    u8* to = row_state<T>(p, up, dx, band, x + dx);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      normalise(state[c], low[c], p.p2_pair);
      if (mine && inside(x + c) && inside(x + c + dx)) store_state(to + c * T::range, at.lane, pack(state[c]));
    }
  }

  // At most one of the columns steps into the next strip.
  __device__ __forceinline__ void keep_for_strip(bool mine, int x, int next_y) const {
    const int hit = ((dx > 0 ? T::tile_width - 1 : 0) - x) & (T::tile_width - 1), to = x + hit + dx;
    if (hit >= N || !mine || !inside(x + hit) || !inside(to) || (u32)next_y >= (u32)p.height) return;
    State copy;
    u32 copied_low = hit ? low[N - 1] : low[0];
#pragma unroll
    for (int j = 0; j < words; ++j) {
      const u32 first = state[0][j], last = state[N - 1][j];
      copy[j] = hit ? last : first;
    }
    normalise(copy, copied_low, p.p2_pair);
    store_state(side_state<T>(p, up, dx, to / T::tile_width, next_y), at.lane, pack(copy));
  }

  // Rows, counted from the first one, in which some group meets the next strip and not the next band; they repeat after
  // 32. The first is the highest bit.
  __device__ __forceinline__ u32 rows_at_strips(int x) const {
    if (dx == 0) return 0;
    const int i = threadIdx.x % 32, edge = dx > 0 ? T::tile_width - 1 : 0;
    bool any = false;
#pragma unroll
    for (int g = 0; g < T::groups; ++g) {
      const int there = __shfl_sync(everywhere, x, g * T::lanes) + dx * i;
#pragma unroll
      for (int c = 0; c < N; ++c) any |= ((there + c - edge) & (T::tile_width - 1)) == 0;
    }
    const bool leaves_band = (first_y + sense * i - (up ? 0 : tile_height - 1)) % tile_height == 0;
    return __brev(__ballot_sync(everywhere, any && !leaves_band));
  }

  // How many rows may be followed before a path wraps, or what is read ahead of it does, or it enters the image.
  __device__ __forceinline__ int rows_until_turn(int x) const {
    if (dx == 0) return p.height;
    const int entry = (dx > 0 ? 0 : p.width - 1) - dx;
    int least = p.height;
    const auto until = [&](int column) {
      const int rows = (column - x) * dx;
      least = min(least, rows + (rows < 0 ? p.around : 0) + 1);
    };
    until(last_x);
    until(last_x - rows_ahead * dx);
#pragma unroll
    for (int c = 0; c < N; ++c) until(entry - c);
#pragma unroll
    for (int step = T::lanes; step < 32; step *= 2) least = min(least, __shfl_xor_sync(everywhere, least, step));
    return least;
  }

  // The column of the first row, and whether the group has lines at all.
  __device__ __forceinline__ bool place(int bundle, int& x) const {
    if (dx == 0) {
      x = (bundle * T::groups + at.group) * N;
      const bool mine = x < p.width;
      if (!mine) x = 0;
      return mine;
    }
    // x − tilt · y stays a multiple of N, where x grows by tilt when y grows by 1.
    constexpr int bundles = T::line_stride / N;  // of a unit
    const int line = bundle / bundles * T::groups * T::line_stride + bundle % bundles * N + at.group * T::line_stride;
    const bool mine = line < p.around;
    const int u = ((mine ? line : line - p.around) + 1 + dx * sense * (first_y % p.around)) % p.around;
    x = u + (u < 0 ? p.around : 0) - 1;
    return mine;
  }

  __device__ __forceinline__ void follow(int bundle) {
    int x;
    const bool mine = place(bundle, x);
    const Slope slope = dx == 0 ? straight : dx * sense > 0 ? falling : rising;
    const typename V::Padding<T> padding(p, at.lane);
    Neighbours<T> neighbours(at.lane);
    neighbours.keep();
    const u32 p1 = kept(p.p1_pair);

    // The cursor, the penalties and the row that it is in go ahead of the paths.
    typename Cost::Cursor cursor(p, slope, x, first_y, dx, sense, at.lane);
    int ahead = 0, ahead_x = x;
    Cost costs[buffers];
    Penalty penalty[buffers];
    const auto read = [&](int buffer) {
      costs[buffer].fetch(cursor);
      penalty[buffer].fetch(p, up, ahead_x, min(max(first_y + sense * ahead, 0), p.height - 1));
      cursor.step();
      ahead_x += dx;
      ++ahead;
      if (V::looks_ahead && ahead + steps_ahead < p.height) {
        Cost::look_ahead(cursor);
        Penalty::look_ahead(p, up, ahead_x, first_y + sense * (ahead + steps_ahead));
      }
    };
    const auto wrap_ahead = [&](int column) {
      if (dx == 0 || column != last_x) return;
      cursor.jump(back);
      ahead_x += back;
    };
    Minima<T, N> minima;
    minima.set(low);
    State cost[N];
    u32 p2_here[N];
    const auto evaluate = [&](int buffer) {
#pragma unroll
      for (int c = 0; c < N; ++c) {
        costs[buffer].column(cost[c], c, minima.mine);
        padding.apply(cost[c]);
        p2_here[c] = penalty[buffer].of(c, penalty_byte(dx));
      }
    };
#pragma unroll
    for (int i = 0, there = x; i < rows_ahead; ++i) {
      read(i % buffers);
      if (i == 0) evaluate(0);
      wrap_ahead(there);
      there += dx + (there == last_x ? back : 0);
    }

    int row = 0, turn = rows_until_turn(x), band_end = up ? (p.height - 1) % tile_height + 1 : tile_height;
    u32 strips = rows_at_strips(x);
    x -= dx;  // from here on that of the row before `row` is x + dx · row
    const auto go_on = [&](int after) {
      minima.get(low);
#pragma unroll
      for (int c = 0; c < N; ++c) {
        advance<T>(state[c], cost[c], add(low[c], p2_here[c]), p1, neighbours);
        low[c] = smallest_of(state[c]);
      }
      minima.start(low);
      evaluate(after);
      read(after);
      ++row;
      const bool strip = (int)strips < 0;
      strips = __funnelshift_l(strips, strips, 1);
      if (strip) {
        minima.get(low);
        keep_for_strip(mine, x + dx * row, first_y + sense * row);
        __syncwarp();
      }
    };
    int stop = min(min(turn, band_end), p.height);
    // What comes between rows; false after the last one.
    const auto turns = [&] {
      if (row == p.height) return false;  // what enters the last band was kept before
      minima.get(low);
      const int here = x + dx * row;
      if (row == band_end) {
        keep_for_band(mine, here, (first_y + sense * row) / tile_height);
        band_end += tile_height;
        __syncwarp();
      }
      if (row == turn) {
        wrap_ahead(here + rows_ahead * dx);
        if (here == last_x) x += back;
        restart(x + dx * (row + 1));
        turn += rows_until_turn(x + dx * (row + 1));
        __syncwarp();
      }
      minima.set(low);
      stop = min(min(turn, band_end), p.height);
      return true;
    };
#pragma unroll 1
    while (true) {
      go_on(1);
      if (row == stop && !turns()) return;
      go_on(0);
      if (row == stop && !turns()) return;
    }
  }
};

// A row, leftward or rightward, four columns at a time.
template <class T, class V, bool kLeftward>
struct Line {
  using Cost = typename V::Cost<T, columns>;
  using Penalty = typename V::Penalty<columns>;

  const Problem& p;
  const Position<T> at;
  const typename V::Padding<T> padding{p, at.lane};
  const Neighbours<T> neighbours{at.lane};
  State state;
  u32 low[1];
  Minima<T, 1> minima;

  __device__ __forceinline__ void start_from_zeros() {
    clear(state, low[0]);
    minima.set(low);
  }

  __device__ __forceinline__ void step(const State& cost, u32 p2) {
    u32 next_low[1];
    if constexpr (V::early_minimum) {
      State best, next;
      best_from<T>(best, state, p.p1_pair, neighbours);
#pragma unroll
      for (int j = 0; j < words; ++j) next[j] = add(best[j], magnitude(cost[j]));
      next_low[0] = smallest_of(next);
      minima.get(low);
      const u32 limit = add(low[0], p2);
#pragma unroll
      for (int j = 0; j < words; ++j) state[j] = add(smaller(best[j], limit), magnitude(cost[j]));
    } else {
      minima.get(low);
      advance<T>(state, cost, add(low[0], p2), p.p1_pair, neighbours);
      next_low[0] = smallest_of(state);
    }
    minima.start(next_low);
  }

  __device__ __forceinline__ void follow(int bundle) {
    constexpr int stride = kLeftward ? -columns : columns;
    const int row = bundle * T::groups + at.group;
    const bool mine = row < p.height;
    const int y = mine ? row : 0;
    const int quads = (p.width + columns - 1) / columns;
    int x = kLeftward ? (quads - 1) * columns : 0;
    start_from_zeros();
    typename Cost::Cursor cursor(p, straight, x, y, stride, 0, at.lane);
    Cost costs;
    costs.fetch(cursor);
    Penalty penalty(p, kLeftward, x, y);
    const auto four = [&](auto first, bool more) {
      State cost[columns];
      u32 p2[columns];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        costs.column(cost[c], c);
        padding.apply(cost[c]);
        p2[c] = penalty.of(c, penalty_byte_along_row);
      }
      if (more) {
        cursor.step();
        costs.fetch(cursor);
        if (V::looks_ahead) Cost::look_ahead(cursor);
        penalty.fetch(p, kLeftward, x + stride, y);
      }
#pragma unroll
      for (int k = 0; k < columns; ++k) {
        const int c = kLeftward ? columns - 1 - k : k;
        step(cost[c], p2[c]);
        if (kLeftward && decltype(first)::value && x + c >= p.width) start_from_zeros();
      }
      const int done = kLeftward ? x : x + columns;
      const bool leaves = done % T::tile_width == 0;
      if (leaves || done % longest_run == 0) {
        minima.get(low);
        normalise(state, low[0], p.p2_pair);
        minima.set(low);
      }
      const int strip = x / T::tile_width + (kLeftward ? -1 : 1);
      if (leaves && mine && strip >= 0 && strip < p.strips)
        store_state(end_state<T>(p, kLeftward, strip, y), at.lane, pack(state));
      x += stride;
    };
    four(std::true_type{}, quads > 1);
#pragma unroll 1
    for (int i = 1; i < quads; ++i) four(std::false_type{}, i + 1 < quads);
  }
};

// A block's warps follow neighbouring bundles: they share features in the first-level cache, and each scheduler of a
// multiprocessor gets one of them.
template <class T, class V>
__device__ __forceinline__ void follow_paths(const Problem& p) {
  constexpr int directions = V::diagonals ? 6 : 2;
  const int warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const int line_blocks = (p.line_bundles + warps - 1) / warps * directions;
  const int line = p.rows_first ? (int)blockIdx.x - ((int)gridDim.x - line_blocks) : (int)blockIdx.x;
  if (line >= 0 && line < line_blocks) {
    const int direction = line % directions, bundle = line / directions * warps + warp;
    if (bundle >= p.line_bundles) return;
    Lines<T, V>(p, direction % 2, V::diagonals ? direction / 2 - 1 : 0).follow(bundle);
  } else {
    const int row = line < 0 ? (int)blockIdx.x : line - line_blocks, bundle = row / 2 * warps + warp;
    if (bundle * T::groups >= p.height) return;
    if (row % 2)
      Line<T, V, true>{p}.follow(bundle);
    else
      Line<T, V, false>{p}.follow(bundle);
  }
}

}  // namespace stereopsis::sgm_wta
