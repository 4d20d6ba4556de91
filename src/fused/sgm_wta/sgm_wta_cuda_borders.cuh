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
// before that.
template <class T, class V, int N>
struct Lines {
  using Cost = typename V::Cost<T, N>;
  using Penalty = typename V::Penalty<N>;

  const Problem& p;
  const bool up;
  const int dx;  // all directions share their code: it has to stay in the instruction cache
  const Position<T> at;
  const int sense = up ? -1 : 1;  // of y
  // Where diagonals wrap.
  const int last_x = dx == 0 ? -2 : dx < 0 ? -1 : p.around - 2, back = dx < 0 ? p.around : -p.around;
  u32 low[N];
  State state[N];

  __device__ __forceinline__ Lines(const Problem& problem, bool upward, int dx_) : p(problem), up(upward), dx(dx_) {
#pragma unroll
    for (int c = 0; c < N; ++c) clear(state[c], low[c]);
  }

  __device__ __forceinline__ bool inside(int x) const { return x >= 0 && x < p.width; }
  __device__ __forceinline__ int next(int x) const { return x + dx + (x == last_x ? back : 0); }
  __device__ __forceinline__ bool leaves_band(int y) const {
    return up ? y % tile_height == 0 : y % tile_height == tile_height - 1;
  }

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
    const bool wanted = mine && band >= 0 && band < p.bands;
    const u32 p2 = both(p.p2);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      normalise(state[c], low[c], p2);
      if (wanted && inside(x + c) && inside(x + c + dx))
        store_state(row_state<T>(p, up, dx, band, x + c + dx), at.lane, pack(state[c]));
    }
  }

  // At most one of the columns steps into the next strip.
  __device__ __forceinline__ void keep_for_strip(bool mine, int x, int next_y) {
    const int hit = ((dx > 0 ? T::tile_width - 1 : 0) - x) & (T::tile_width - 1), to = x + hit + dx;
    if (hit >= N || !mine || !inside(x + hit) || !inside(to)) return;
    State copy;
    u32 copied_low = hit ? low[N - 1] : low[0];
#pragma unroll
    for (int j = 0; j < words; ++j) {
      const u32 first = state[0][j], last = state[N - 1][j];
      copy[j] = hit ? last : first;
    }
    normalise(copy, copied_low, both(p.p2));
    store_state(side_state<T>(p, up, dx, to / T::tile_width, next_y), at.lane, pack(copy));
  }

  // Rows, counted from the first one, after which there is more to do than to go on; they repeat after 32. The first is
  // the highest bit.
  __device__ __forceinline__ u32 eventful_rows(int first_x, int first_y) const {
    const int i = threadIdx.x % 32;
    bool event = leaves_band(first_y + sense * i);
    if (dx != 0) {
      const auto meets = [&](int x, int where) { return ((x - where) & (T::tile_width - 1)) == 0; };
#pragma unroll
      for (int g = 0; g < T::groups; ++g) {
        const int x = first_x + g * T::line_stride + dx * i;
        event |= meets(x, last_x);
#pragma unroll
        for (int c = 0; c < N; ++c) event |= meets(x + c, dx > 0 ? -1 : 0) || meets(x + c, dx > 0 ? -1 : p.width);
      }
    }
    return __brev(__ballot_sync(everywhere, event));
  }

  __device__ __forceinline__ void follow(int bundle) {
    const int tilt = dx * sense;  // x grows by it when y grows by 1
    const int first_y = up ? p.height - 1 : 0;
    int x, first_x = 0;
    bool mine;
    if (dx == 0) {
      x = (bundle * T::groups + at.group) * N;
      mine = x < p.width;
      if (bundle * T::groups * N >= p.width) return;
      if (!mine) x = 0;
    } else {
      // x − tilt · y stays a multiple of N; x runs from −1 to around − 2.
      constexpr int bundles = T::line_stride / N;  // of a unit
      const int first = bundle / bundles * T::groups * T::line_stride + bundle % bundles * N;
      const auto place = [&](int line) {
        const int u = (line + 1 + tilt * (first_y % p.around)) % p.around;
        return u + (u < 0 ? p.around : 0) - 1;
      };
      const int line = first + at.group * T::line_stride;
      mine = line < p.around;
      x = place(mine ? line : line - p.around);
      first_x = place(first);
    }
    const u32 p1 = both(p.p1), p2 = both(p.p2);
    const typename V::Padding<T> padding(p, at.lane);
    u32 events = eventful_rows(first_x, first_y);

    typename Cost::Cursor cursor(p, dx == 0 ? straight : tilt > 0 ? falling : rising, x, first_y, dx, sense, at.lane);
    int ahead = 0, ahead_x = x;  // the row that the cursor is in
    Cost costs[2];
    Penalty penalty[2] = {{p, up, x, first_y}, {p, up, x, first_y}};
    const auto read = [&](Cost& row, Penalty& row_penalty) {
      row.fetch(cursor);
      row_penalty.fetch(p, up, ahead_x, first_y + sense * ahead);
      if (ahead + 1 >= p.height) return;
      ++ahead;
      cursor.step();
      if (ahead_x == last_x) cursor.jump(back);
      ahead_x = next(ahead_x);
      if (V::looks_ahead && ahead + steps_ahead < p.height) {
        Cost::look_ahead(cursor);
        Penalty::look_ahead(p, up, ahead_x, first_y + sense * (ahead + steps_ahead));
      }
    };
    Minima<T, N> minima;
    minima.set(low);
    State cost[N];
    u32 p2_here[N];
    const auto evaluate = [&](const Cost& row, const Penalty& row_penalty) {
#pragma unroll
      for (int c = 0; c < N; ++c) {
        row.column(cost[c], c, minima.mine);
        padding.apply(cost[c]);
        p2_here[c] = row_penalty.of(c, penalty_byte(dx));
      }
    };
    read(costs[0], penalty[0]);
    read(costs[1], penalty[1]);
    evaluate(costs[0], penalty[0]);
    read(costs[0], penalty[0]);

    int remaining = p.height;
    // `after` holds the features of the next row.
    const auto go_on = [&](Cost& after, Penalty& after_penalty) {
      minima.get(low);
#pragma unroll
      for (int c = 0; c < N; ++c) {
        advance<T>(state[c], cost[c], add(low[c], p2_here[c]), p1, at.lane);
        low[c] = smallest_of(state[c]);
      }
      minima.start(low);
      evaluate(after, after_penalty);
      read(after, after_penalty);
      const bool event = (int)events < 0;
      events = __funnelshift_l(events, events, 1);
      if (event) {
        minima.get(low);
        const int y = first_y + sense * (p.height - remaining);
        if (leaves_band(y))
          keep_for_band(mine, x, y / tile_height + sense);
        else if (dx != 0 && remaining > 1)
          keep_for_strip(mine, x, y + sense);
        if (dx != 0) {
          x = next(x);
          restart(x);
        }
        __syncwarp();
        minima.set(low);
      } else {
        x += dx;
      }
      --remaining;
    };
#pragma unroll 1
    while (true) {
      go_on(costs[1], penalty[1]);
      if (remaining == 0) return;
      go_on(costs[0], penalty[0]);
      if (remaining == 0) return;
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
  const u32 p1 = both(p.p1);
  const typename V::Padding<T> padding{p, at.lane};
  State state;
  u32 low[1];

  template <bool kFirst>
  __device__ __forceinline__ void four(const Cost& costs, const Penalty& penalty, int x) {
#pragma unroll
    for (int k = 0; k < columns; ++k) {
      const int c = kLeftward ? columns - 1 - k : k;
      State cost;
      costs.column(cost, c);
      padding.apply(cost);
      advance<T>(state, cost, add(low[0], penalty.of(c, penalty_byte_along_row)), p1, at.lane);
      low[0] = smallest_of(state);
      reduce<T>(low);
      if (kLeftward && kFirst && x + c >= p.width) clear(state, low[0]);
    }
  }

  __device__ __forceinline__ void follow(int bundle) {
    constexpr int step = kLeftward ? -columns : columns;
    const int row = bundle * T::groups + at.group;
    const bool mine = row < p.height;
    const int y = mine ? row : 0;
    const u32 p2 = both(p.p2);
    const int quads = (p.width + 3) / 4;
    int x = kLeftward ? (quads - 1) * columns : 0;
    clear(state, low[0]);
    typename Cost::Cursor cursor(p, straight, x, y, step, 0, at.lane);
    Cost costs;
    costs.fetch(cursor);
    Penalty penalty(p, kLeftward, x, y);
    const auto go_on = [&](auto first, bool more) {
      const Cost now = costs;
      const Penalty now_penalty = penalty;
      if (more) {
        cursor.step();
        costs.fetch(cursor);
        if (V::looks_ahead) Cost::look_ahead(cursor);
        penalty.fetch(p, kLeftward, x + step, y);
      }
      four<decltype(first)::value>(now, now_penalty, x);
      const int done = kLeftward ? x : x + columns;
      const bool leaves = done % T::tile_width == 0;
      if (leaves || done % longest_run == 0) normalise(state, low[0], p2);
      const int strip = x / T::tile_width + (kLeftward ? -1 : 1);
      if (leaves && mine && strip >= 0 && strip < p.strips)
        store_state(end_state<T>(p, kLeftward, strip, y), at.lane, pack(state));
      x += step;
    };
    go_on(std::true_type{}, quads > 1);
#pragma unroll 1
    for (int i = 1; i < quads; ++i) go_on(std::false_type{}, i + 1 < quads);
  }
};

// One warp a block: blocks are dealt out over the schedulers. What comes first has precedence on its scheduler, so that
// rows come first where all run at once: they are the longest chains. Where blocks wait for others to end, lines come
// first: they last longest.
template <class T, class V, int kColumns>
__device__ __forceinline__ void follow_paths(const Problem& p) {
  constexpr int directions = V::diagonals ? 6 : 2;
  const int first_line = p.rows_first ? (int)gridDim.x - p.line_blocks : 0, line = (int)blockIdx.x - first_line;
  if (line >= 0 && line < p.line_blocks) {
    const int direction = line % directions;
    Lines<T, V, kColumns>(p, direction % 2, V::diagonals ? direction / 2 - 1 : 0).follow(line / directions);
  } else {
    const int row = line < 0 ? blockIdx.x : line - p.line_blocks;
    if (row % 2)
      Line<T, V, true>{p}.follow(row / 2);
    else
      Line<T, V, false>{p}.follow(row / 2);
  }
}

}  // namespace stereopsis::sgm_wta
