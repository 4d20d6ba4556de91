// First pass: follows every path over the whole image, without computing sums. Stores the state of a path only where
// the path enters a tile. Along the rows of kept strips, the pass stores the contribution of the path to each sum
// instead (sgm_wta_cuda_rows.cuh). Paths are independent of each other. The second pass waits for some of these paths
// (sgm_wta_cuda_progress.cuh).
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_feed.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_progress.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_rows.cuh"

namespace stereopsis::sgm_wta {

// Diagonal paths run around a cylinder that is slightly wider than the image, a whole number of strips. The paths
// restart from zeros where they enter the image, so that every group of lanes has the same amount of work. A group
// follows N adjacent lines. The groups of a warp are one strip apart, so that they reach the next strip in the same
// rows.
//
// In each row, a path waits longest for the minimum over its lanes. Independent work is done during this wait. The
// result of an exchange is used only in the next row, and costs and the minima of neighbouring words are evaluated one
// row in advance. Rare events end the loop over rows: the end of a band, a wrap, or, if the next row is already in
// shared memory, the end of a strip. If the next row is still being loaded, the loop goes on, because its end would have to wait for that row.
template <class T, class V, BorderForm kForm>
struct Lines {
  static constexpr int N = kForm.lines, words = T::words;
  static constexpr bool shares = kForm.source == Source::block;
  using State = StateOf<T>;
  using FeedOf = std::conditional_t<shares, BlockFeed<T, V, kForm>, Feed<T, V, kForm>>;
  static constexpr int buffers = FeedOf::buffers, rows_ahead = FeedOf::rows_ahead;
  static constexpr bool keeps_near = buffers == 1;  // otherwise the second buffer uses the registers of these values

  const Problem& p;
  const bool up;
  const int dx;  // a variable, because all directions share their code so that the code fits in the instruction cache
  const Position<T> at;
  const int sense = up ? -1 : 1, first_y = up ? p.height - 1 : 0;              // step of y in the direction of the path
  const int first_band = up ? (p.height - 1) % tile_height + 1 : tile_height;  // number of rows of the first band
  // Columns at which diagonal paths wrap; x takes the values −1 to around − 2.
  const int last_x = dx < 0 ? -1 : p.around - 2, back = dx < 0 ? p.around : -p.around;
  u32 low[N];
  State state[N];
  u32 before[N], after[N];  // the words just before and after the words of the lane
  State near[N];            // minima of the previous and the next words, if they are kept

  __device__ __forceinline__ Lines(const Problem& problem, bool upward, int dx_) : p(problem), up(upward), dx(dx_) {
#pragma unroll
    for (int c = 0; c < N; ++c) clear(state[c], low[c]);
  }

  // Returns whether a path in column x remains in the image.
  __device__ __forceinline__ bool stays(int x) const {
    return (u32)(x - (dx < 0 ? 1 : 0)) < (u32)(p.width - (dx != 0 ? 1 : 0));
  }

  __device__ __forceinline__ u32 near_of(int c, int j) const {
    return smaller(j > 0 ? state[c][j > 0 ? j - 1 : 0] : before[c],
                   j + 1 < words ? state[c][j + 1 < words ? j + 1 : 0] : after[c]);
  }
  __device__ __forceinline__ void look_around(const Neighbours<T>& neighbours) {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      before[c] = neighbours.before(state[c]);
      after[c] = neighbours.after(state[c]);
    }
    if constexpr (keeps_near) {
#pragma unroll
      for (int c = 0; c < N; ++c)
#pragma unroll
        for (int j = 0; j < words; ++j) near[c][j] = near_of(c, j);
    }
  }
  __device__ __forceinline__ u32 smallest_word(int c) const {
    if constexpr (keeps_near) {
      u32 between[words / 2];  // words 1, 2, 5, 6, …, which lie between the other words
#pragma unroll
      for (int j = 0; j < words / 2; ++j) between[j] = near[c][j / 2 * 4 + 1 + j % 2];
      return smallest_of(between);
    } else {
      return smallest_of(state[c]);
    }
  }
  __device__ __forceinline__ void step(int c, const State& cost, u32 limit, u32 p1, u32 one) {
    State next;
#pragma unroll
    for (int j = 0; j < words; ++j) {
      const u32 beside = keeps_near ? add(near[c][j], p1, one) : add(near_of(c, j), p1);
      next[j] = add(smallest(beside, state[c][j], limit), magnitude(cost[j]));
    }
#pragma unroll
    for (int j = 0; j < words; ++j) state[c][j] = next[j];
  }

  // Restarts the paths that enter the image at this column.
  __device__ __forceinline__ void restart(int x) {
    const int entry = dx > 0 ? 0 : p.width - 1;
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const u32 goes_on = x + c == entry ? 0 : ~0u;
#pragma unroll
      for (int j = 0; j < words; ++j) {
        state[c][j] &= goes_on;
        if constexpr (keeps_near) near[c][j] &= goes_on;
      }
      before[c] &= goes_on, after[c] &= goes_on, low[c] &= goes_on;
    }
  }

  // Continues the paths that enter the stripe from the previous one, at column x + c.
  __device__ __forceinline__ void enter(bool mine, int x) {
    const u8* const from = p.entering[up];
    if (from == nullptr) return;
#pragma unroll
    for (int c = 0; c < N; ++c) {
      if (!mine || !stays(x + c - dx)) continue;
      unpack<T>(state[c], load_state<T>(stripe_state<T, V>(p, from, dx, x + c), at.lane));
    }
    __syncwarp();
  }

  // Stores the states of all paths when the paths leave their band, for use at x + dx, whose state is at `to`.
  __device__ __forceinline__ void keep_for_band(bool mine, int x, u8* to) {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      before[c] = subtract(before[c], low[c]), after[c] = subtract(after[c], low[c]);
      if constexpr (keeps_near) {
#pragma unroll
        for (int j = 0; j < words; ++j) near[c][j] = subtract(near[c][j], low[c]);
      }
      normalise(state[c], low[c], p.p2_pair);
      store_state_if(mine && stays(x + c), to + c * T::range, at.lane, state[c]);
    }
  }

  // Stores the state for the next strip, which at most one of the columns enters.
  __device__ __forceinline__ void keep_for_strip(bool mine, int x, int next_y) const {
    const int hit = ((dx > 0 ? T::tile_width - 1 : 0) - x) & (T::tile_width - 1), to = x + hit + dx;
    const bool wanted = hit < N && mine && stays(x + hit) && (u32)next_y < (u32)p.height;
    State copy;
    u32 copied_low = hit ? low[N - 1] : low[0];
#pragma unroll
    for (int j = 0; j < words; ++j) {
      const u32 first = state[0][j], last = state[N - 1][j];
      copy[j] = hit ? last : first;
    }
    normalise(copy, copied_low, p.p2_pair);
    store_state_if(wanted, side_state<T>(p, up, dx, to / T::tile_width, next_y), at.lane, copy);
  }

  // Return bits for rows, counted from the first row and repeating after 32 rows: the rows in which all paths leave
  // their band, and the other rows in which some group reaches the next strip.
  __device__ __forceinline__ u32 rows_at_bands() const {
    const int i = threadIdx.x % 32;
    return __ballot_sync(everywhere, (first_y + sense * i - (up ? 0 : tile_height - 1)) % tile_height == 0);
  }
  __device__ __forceinline__ u32 rows_at_strips(int x) const {
    if (dx == 0) return 0;
    const int i = threadIdx.x % 32, edge = dx > 0 ? T::tile_width - 1 : 0;
    bool any = false;
#pragma unroll 1
    for (int g = 0; g < T::groups; ++g) {
      const int there = __shfl_sync(everywhere, x, g * T::lanes) + dx * i;
#pragma unroll
      for (int c = 0; c < N; ++c) any |= ((there + c - edge) & (T::tile_width - 1)) == 0;
    }
    return __ballot_sync(everywhere, any) & ~rows_at_bands();
  }

  // Returns the number of rows that may be followed before an event: a path wraps, its prefetched data wraps, or it
  // enters the image.
  __device__ __forceinline__ int rows_until_turn(int x) const {
    if (dx == 0) return p.height;
    const int entry = (dx > 0 ? 0 : p.width - 1) - dx;
    int least = p.height;
    const auto until = [&](int column) {
      const int rows = (column - x) * dx;
      least = min(least, rows + (rows < 0 ? p.around : 0) + 1);
    };
    until(last_x);
    if (!shares) until(last_x - rows_ahead * dx);
#pragma unroll
    for (int c = 0; c < N; ++c) until(entry - c);
    return __reduce_min_sync(everywhere, least);
  }

  // Finds the column of the first row. Returns whether the group has lines.
  __device__ __forceinline__ bool place(int bundle, int& x) const {
    if (dx == 0) {
      x = (bundle * T::groups + at.group) * N;
      const bool mine = x < p.width;
      if (!mine) x = 0;
      return mine;
    }
    // The groups first take the same position in as many strips as there are groups, and then positions in the
    // remaining strips.
    constexpr int places = T::tile_width / N;
    const int strips = p.around / T::tile_width, whole = strips / T::groups, left = strips % T::groups;
    int strip = bundle / places * T::groups + at.group, there = bundle % places;
    if (bundle >= whole * places) {
      const int i = (bundle - whole * places) * T::groups + at.group;
      strip = whole * T::groups + i % left;
      there = i / left;
    }
    const bool mine = there < places;
    // If x grows by tilt when y grows by 1, x − tilt · y remains a multiple of N.
    const int line = strip * T::tile_width + (mine ? there * N : 0);
    x = column_of(line);
    return mine;
  }
  // Returns the column of a diagonal line in the first row.
  __device__ __forceinline__ int column_of(int line) const {
    const int u = (line + 1 + dx * sense * (first_y % p.around)) % p.around;
    return u + (u < 0 ? p.around : 0) - 1;
  }

  // Follows the lines that one warp of a block has.
  __device__ __forceinline__ void follow(int block, int warp) {
    const Slope slope = dx == 0 ? straight : dx * sense > 0 ? falling : rising;
    if constexpr (shares) {
      using Block = Arrangement<T>;
      constexpr int blocks = Block::spacing / N;  // number of blocks whose lines are interleaved
      const int line = block / blocks * Block::span + block % blocks * N, offset = Block::offset(warp, at.group);
      if (dx == 0 && line >= p.width) return count_without_lines();
      const auto column = [&](int of_line) { return dx == 0 ? of_line : column_of(of_line); };
      const bool mine = line + offset < (dx == 0 ? p.width : p.around);
      FeedOf feed(p, slope, dx, sense, first_y, first_band, warp, offset, at.lane, column(line + Block::spread));
      follow(feed, column(line + offset), mine, warp);
    } else {
      const int bundle = block * (blockDim.x / 32) + warp;
      if (bundle >= p.line_bundles) return;
      int x;
      const bool mine = place(bundle, x);
      FeedOf feed{p, up, dx, sense, first_y, last_x, back, {p, slope, x, first_y, dx, sense, at.lane}, x};
      follow(feed, x, mine, warp);
    }
  }

  // Counts a warp that has no lines inside the image.
  __device__ __forceinline__ void count_without_lines() const {
    for (int done = next_checkpoint<T, V>(p, 1); done < p.bands; done = next_checkpoint<T, V>(p, done + 1))
      count(lines_done_with(p, up, done));
    count(lines_done_with(p, up, p.bands));
  }

  // Counts finished bands. The warps of a block whose lines share features meet at the end of each band. One warp then
  // counts the previous band for all warps. Otherwise, each warp counts itself.
  __device__ __forceinline__ void count_bands(int done, int warp, int& checkpoint) const {
    if ((shares ? done - 1 : done) != checkpoint) return;
    const bool counts = !shares || warp == done / checkpoint_bands % border_warps;
    if (counts) count(lines_done_with(p, up, checkpoint), shares ? border_warps : 1);
    checkpoint = next_checkpoint<T, V>(p, checkpoint + 1);
  }

  __device__ __forceinline__ void follow(FeedOf& feed, int x, bool mine, int warp) {
    const typename V::Padding<T> padding(p, at.lane);
    Neighbours<T> neighbours(at.lane);
    neighbours.keep();
    const u32 p1 = kept(p.p1_pair), one = kept(1);

    enter(mine, x);
    Minima<T, N> minima;
    minima.set(low);
    look_around(neighbours);
    State cost[N];
    u32 p2_here[N];
    // The function must not run before the exchange between lanes was issued.
    const auto evaluate = [&](int buffer) {
#pragma unroll
      for (int c = 0; c < N; ++c) {
        feed.costs[buffer].column(cost[c], c, buffers == 2 ? minima.mine : c == 0 ? before[N - 1] : after[N - 1]);
        padding.apply(cost[c]);
        p2_here[c] = feed.penalty[buffer].of(c, penalty_byte(dx));
      }
    };
    feed.first();
    evaluate(0);
    if constexpr (shares) {
      feed.second();
    } else {
      const int last_asked = feed.x;
      feed.next(0);
      feed.wrap(last_asked);
    }

    int row = 0, turn = rows_until_turn(x), band_end = first_band, checkpoint = next_checkpoint<T, V>(p, 1);
    u32 strips = rows_at_strips(x);
    const u32 stops = strips | rows_at_bands();
    x -= dx;  // from this line on, the column of the row before `row` is x + dx · row
    const auto meet_strip = [&] {
      minima.get(low);
      keep_for_strip(mine && !p.only_upward, x + dx * row, first_y + sense * row);
      __syncwarp();
    };
    const auto go_on = [&](int buffer) {
      minima.get(low);
#pragma unroll
      for (int c = 0; c < N; ++c) step(c, cost[c], low[c] + p2_here[c], p1, one);
      look_around(neighbours);
#pragma unroll
      for (int c = 0; c < N; ++c) low[c] = smallest_word(c);
      minima.start(low);
      evaluate(buffer);
      feed.next(buffer);
      ++row;
      if constexpr (V::diagonals && !shares) {
        const bool strip = strips & 1;
        strips = __funnelshift_r(strips, strips, 1);
        if (strip) meet_strip();
      }
    };
    int stop = 0;  // at most the height of the image, which `turn` never exceeds
    const auto look_for_stop = [&] {
      stop = min(turn, shares && V::diagonals ? row + __ffs(__funnelshift_r(stops, stops, row)) : band_end);
    };
    // Handles the events between rows. Returns false after the last row.
    const auto turns = [&] {
      minima.get(low);
      const int here = x + dx * row;
      const bool ends = row == p.height;
      u8* const leaving = p.leaving[up];
      if (ends && leaving == nullptr) {  // the states that enter the last band are already stored
        count(lines_done_with(p, up, p.bands));
        return false;
      }
      if (V::diagonals && shares && strips >> (row - 1) % 32 & 1) meet_strip();
      if (row == band_end || ends) {
        const int band = (first_y + sense * row) / tile_height, done = up ? p.bands - 1 - band : band;
        // This call has one place in the code, which must fit in the instruction cache.
        keep_for_band(mine && (ends || !p.only_upward), here,
                      ends ? stripe_state<T, V>(p, leaving, dx, here + dx) : row_state<T, V>(p, up, dx, band, here + dx));
        if (ends) {
          count(lines_done_with(p, up, p.bands));
          return false;
        }
        band_end += tile_height;
        __syncwarp();
        if constexpr (shares) feed.end_band(row);
        count_bands(done, warp, checkpoint);
      }
      if (V::diagonals && row == turn) {
        if constexpr (!shares) feed.wrap(here + rows_ahead * dx);
        if (here == last_x) x += back;
        restart(x + dx * (row + 1));
        turn = min(turn + rows_until_turn(x + dx * (row + 1)), p.height);
        __syncwarp();
      }
      minima.set(low);
      look_for_stop();
      return true;
    };
    look_for_stop();
    if constexpr (buffers == 2) {
#pragma unroll 1
      while (true) {
        go_on(1);
        if (row == stop && !turns()) return;
        go_on(0);
        if (row == stop && !turns()) return;
      }
    } else {
      constexpr int unrolled = shares ? 2 : 1;  // with unrolling, fewer registers are copied
      do {
#pragma unroll unrolled
        do go_on(0);
        while (row != stop);
      } while (turns());
    }
  }
};

// Follows a row to the left or to the right, four columns at a time.
template <class T, class V, bool kLeftward>
struct Line {
  using Cost = typename V::Cost<T, columns>;
  using Penalty = typename V::Penalty<columns>;
  using State = StateOf<T>;
  static constexpr int words = T::words;

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
  // Makes one step, and normalises the state without additional instructions. Also returns the contribution of the path
  // to the sum of the pixel.
  __device__ __forceinline__ void step(const State& cost, u32 p2, State& brought) {
    static_assert(V::early_minimum);
    State best, next;
    best_from<T>(best, state, p.p1_pair, neighbours);
#pragma unroll
    for (int j = 0; j < words; ++j) next[j] = add(best[j], magnitude(cost[j]));
    const u32 next_low[1] = {smallest_of(next)};
    u32 low_before[1];
    minima.get(low_before);
    low[0] = low_before[0] - low[0];  // low[0] had been copied before the subtraction
#pragma unroll
    for (int j = 0; j < words; ++j) {
      brought[j] = smaller_difference(best[j], low[0], p2);
      state[j] = add(brought[j], magnitude(cost[j]));
    }
    minima.start(next_low);
  }

  // Stores the state with which the path enters the next strip.
  __device__ __forceinline__ void keep_end(int x, int y, bool mine) {
    const int done = kLeftward ? x : x + columns;
    const bool leaves = done % T::tile_width == 0;
    const int strip = x / T::tile_width + (kLeftward ? -1 : 1);
    const bool wanted = leaves && strip >= 0 && strip < p.strips;
    if constexpr (V::keeps_rows) {
      if (!wanted || is_kept(p, strip)) return;
      State entering;
#pragma unroll
      for (int j = 0; j < words; ++j) entering[j] = state[j];
      u32 lowest[1];
      minima.get(lowest);
      lowest[0] -= low[0];  // relative to `low`, as is the minimum of a step
      normalise(entering, lowest[0], p.p2_pair);
      store_state_if(mine, end_state<T>(p, kLeftward, strip, y), at.lane, entering);
    } else {
      if (leaves || (done & (p.run - 1)) == 0) {
        minima.get(low);
        normalise(state, low[0], p.p2_pair);
        minima.set(low);
      }
      if (wanted) store_state_if(mine, end_state<T>(p, kLeftward, strip, y), at.lane, state);
    }
  }

  __device__ __forceinline__ void follow(int bundle, int warp) {
    constexpr int stride = kLeftward ? -columns : columns;
    const int row = bundle * T::groups + at.group;
    const bool mine = row < p.height;
    const int y = mine ? row : 0;
    const int quads = quads_of_row(p);
    int x = kLeftward ? (quads - 1) * columns : 0;
    start_from_zeros();
    typename Cost::Cursor cursor(p, straight, x, y, stride, 0, at.lane);
    Cost costs;
    costs.fetch(cursor);
    Penalty penalty(p, kLeftward, x, y);
    std::conditional_t<V::keeps_rows, AlongRows<T>, NothingAlongRows> along(p, at, bundle * T::groups, kLeftward, warp);
    const auto quad = [&](auto first, int i) {
      State cost[columns];
      u32 p2[columns];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        costs.column(cost[c], c);
        padding.apply(cost[c]);
        p2[c] = penalty.of(c, penalty_byte_along_row);
      }
      if (i + 1 < quads) {
        cursor.step();
        costs.fetch(cursor);
        if (V::looks_ahead) Cost::look_ahead(cursor);
        penalty.fetch(p, kLeftward, x + stride, y);
      }
      if constexpr (V::keeps_rows) along.begin_quad();
#pragma unroll
      for (int k = 0; k < columns; ++k) {
        const int c = kLeftward ? columns - 1 - k : k;
        if constexpr (V::keeps_rows) {
          State brought;
          step(cost[c], p2[c], brought);
          along.put(brought, c);
        } else {
          step(cost[c], p2[c]);
        }
        if (kLeftward && decltype(first)::value && x + c >= p.width) start_from_zeros();
      }
      if constexpr (V::keeps_rows) along.end_quad(i);
      keep_end(x, y, mine);
      x += stride;
    };
    quad(std::true_type{}, 0);
#pragma unroll 1
    for (int i = 1; i < quads; ++i) quad(std::false_type{}, i);
    if constexpr (V::keeps_rows) along.finish();
    count(rows_done_in(p, bundle * T::groups / tile_height));
  }
};

// Follows rows; the warps of a block follow neighbouring rows in one direction.
template <class T, class V>
__device__ __forceinline__ void follow_row(const Problem& p, int block, int warp) {
  const int warps = blockDim.x / 32, bundle = block / 2 * warps + warp;
  if (bundle * T::groups >= p.height) return;
  if (block % 2)
    Line<T, V, true>{p}.follow(bundle, warp);
  else
    Line<T, V, false>{p}.follow(bundle, warp);
}

// Returns the number of a block in the order lines first, rows second. Line blocks are numbered direction by direction,
// where downward directions are even. Row blocks that precede lines have negative numbers.
template <class T, class V>
__device__ __forceinline__ int number_of_block(const Problem& p, int line_blocks) {
  const int block = blockIdx.x, row_blocks = (int)gridDim.x - line_blocks;
  if constexpr (may_take_turns<T, V>) {
    const int row = block - line_blocks / 2;
    if (p.order == Order::senses_in_turn)
      return row < 0 ? 2 * block : row < row_blocks ? line_blocks + row_blocks - 1 - row : 2 * (row - row_blocks) + 1;
  }
  return p.order == Order::rows_first ? block - row_blocks : block;
}

// Follows paths. The warps of a block follow neighbouring bundles: they share features, and each scheduler of a
// multiprocessor gets one warp.
template <int kRange, class V>
__device__ __forceinline__ void follow_paths(const Problem& p) {
  constexpr BorderForm form = border_form_of<V, kRange>;
  constexpr int directions = directions_of<V>;
  // The tiles of the next kernel wait only for these paths, as soon as all these paths are running.
  let_next_kernel_start();
  // The shuffle tells the compiler that the value is the same in all lanes, because a loop that may diverge is
  // expensive.
  const int warps = blockDim.x / 32, warp = __shfl_sync(everywhere, threadIdx.x / 32, 0);
  const int line_blocks = (p.line_bundles + warps - 1) / warps * directions;
  int block = number_of_block<Layout<kRange>, V>(p, line_blocks);
  if (block >= 0 && block < line_blocks) {
    if (p.only_upward) block = block / (directions / 2) * directions + block % (directions / 2) * 2 + 1;
    const int direction = block % directions;
    Lines<Layout<kRange, form.words>, V, form>(p, direction % 2, V::diagonals ? direction / 2 - 1 : 0)
        .follow(block / directions, warp);
    return;
  }
  const int row = block < 0 ? (int)blockIdx.x : block - line_blocks;
  if constexpr (form.wide_rows != form.narrow_rows && !V::keeps_rows) {
    if (p.wide_rows) return follow_row<Layout<kRange, form.wide_rows>, V>(p, row, warp);
  }
  follow_row<Layout<kRange, form.narrow_rows>, V>(p, row, warp);
}

}  // namespace stereopsis::sgm_wta
