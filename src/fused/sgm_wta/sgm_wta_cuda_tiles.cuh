// Second pass: one block per tile starts the paths from the stored states, and sums them in shared memory. The block
// also selects the left and right winners, so that the sums never leave the chip. A block has one or two warps for each
// direction of the paths. The tiles of kept strips start from the sums of their rows. Kept strips have a separate
// kernel, because a kernel with both variants exceeded the instruction cache.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_progress.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_rows.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_select.cuh"

namespace stereopsis::sgm_wta {

// With this small number of blocks per multiprocessor, all states stay in registers.
template <class T, class V>
constexpr int tile_blocks = T::range == 1024      ? tuning.tile_blocks_1024
                            : V::diagonals        ? tuning.tile_blocks_8
                            : T::sense_warps == 2 ? tuning.tile_blocks_256
                                                  : tuning.tile_blocks_4;

// ---- horizontal paths ------------------------------------------------------------------------------------------ Adds
// the path costs of a lane to the words of a pixel that it processes. `before` points to the same words, or to zeros.
template <int kWords>
__device__ __forceinline__ void accumulate(u32* share, const u32* before, const u32 (&part)[kWords], u32 offset) {
#pragma unroll
  for (int i = 0; i < kWords / 4; ++i) {
    uint4 s = reinterpret_cast<const uint4*>(before)[i];
    s.x += part[4 * i] - offset, s.y += part[4 * i + 1] - offset;
    s.z += part[4 * i + 2] - offset, s.w += part[4 * i + 3] - offset;
    reinterpret_cast<uint4*>(share)[i] = s;
  }
}

// A path through a row of the tile, four columns at a time.
template <class T, class V, bool kLeftward>
struct Row {
  using Cost = typename V::Cost<T, columns>;
  using Penalty = typename V::Penalty<columns>;
  static constexpr int step = kLeftward ? -columns : columns, first = kLeftward ? T::tile_width - columns : 0;

  StateOf<T> state;
  u32 low;
  typename Cost::Cursor cursor;
  Cost costs;
  Penalty penalty;
  u32* share;  // words of the leftmost column of the quad

  __device__ __forceinline__ Row(const Problem& p, u32* sums, int strip, int r, int y, int lane)
      : cursor(p, straight, strip * T::tile_width + first, y, step, 0, lane),
        penalty(p, kLeftward, strip * T::tile_width + first, y),
        share(share_of<T>(pixel_at<T>(sums, r, first), lane)) {
    clear(state, low);
    costs.fetch(cursor);
    if (strip != (kLeftward ? p.strips - 1 : 0)) 
      unpack<T>(state, load_state<T>(end_state<T>(p, kLeftward, strip, y), lane));
  }
  // Advances the path by the k-th of four columns, in the order of the path. The smallest cost must still be reduced
  // over the lanes.
  template <class Padding>
  __device__ __forceinline__ void advance_column(const Problem& p, int k, int x, int y, bool more, u32 p1,
                                                 const Padding& padding, int lane, const u32* before) {
    const int c = kLeftward ? columns - 1 - k : k;
    StateOf<T> cost;
    costs.column(cost, c);
    padding.apply(cost);
    const u32 limit = add(low, penalty.of(c, penalty_byte_along_row));
    if (k == columns - 1) {
      // Loads into the registers that were just read.
      if (more) cursor.step();
      costs.fetch(cursor);
      if (more) penalty.fetch(p, kLeftward, x + step, y);
    }
    advance<T>(state, cost, limit, p1, lane);
    accumulate(share + c * pixel_words<T>, before + c * pixel_words<T>, state, low);
    low = smallest_of(state);
  }
};

// Zeros that are read instead of the sums of four columns, if no path has visited these columns yet. All lanes read the
// same zeros, which takes a quarter of the time of a load, and no other memory needs to be cleared.
template <class T>
using Zeros = u32[(columns - 1) * pixel_words<T> + T::words];
template <class T>
__device__ __forceinline__ void clear_zeros(Zeros<T>& zeros) {
  for (int i = threadIdx.x; i < (int)(sizeof zeros / 4); i += tile_threads<T>) zeros[i] = 0;
}

// The contributions of paths along rows as stored by the first pass, from which the sums of the tile start. A group
// processes a row or a part of a row. All its loads are in flight together.
template <class T>
struct KeptRows {
  static constexpr int groups = tile_threads<T> / T::lanes, count = tile_height * T::tile_width / groups;
  const int lane = threadIdx.x % T::lanes, unit = threadIdx.x / T::lanes;
  const int r = unit % tile_height, c = unit / tile_height * count;
  Packed rightward[count], leftward[count];

  __device__ __forceinline__ KeptRows(const Problem& p, int strip, int y0) {
    const int x = strip * T::tile_width + c, y = min(y0 + r, p.height - 1);
    load(rightward, along_row<T>(p, false, x / columns, y));
    load(leftward, along_row<T>(p, true, x / columns, y));
  }
  __device__ __forceinline__ void put(u32* sums) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      Packed sum;
#pragma unroll
      for (int j = 0; j < words / 2; ++j) sum.w[j] = rightward[i].w[j] + leftward[i].w[j];
      u32 s[words];
      unpack(s, sum);
      uint4* const to = reinterpret_cast<uint4*>(share_of<T>(pixel_at<T>(sums, r, c + i), lane));
      to[0] = make_uint4(s[0], s[1], s[2], s[3]);
      to[1] = make_uint4(s[4], s[5], s[6], s[7]);
    }
  }

 private:
  __device__ __forceinline__ void load(Packed (&bytes)[count], const u8* from) {
#pragma unroll
    for (int i = 0; i < count; ++i)
      bytes[i] =
          load_state_early<T>(from + (i / columns * tile_height * columns + i % columns) * T::range, lane).piece[0];
  }
};

// A group follows the paths of both directions along one or two rows of the tile or, if there are two groups per row, one
// of these paths. In the first half of a row, a path is the first to visit a pixel.
template <class T, class V, bool kPartial>
__device__ __forceinline__ void tile_rows(const Problem& p, u32* sums, const Zeros<T>& zeros, int strip, int y0) {
  constexpr int block_groups = tile_threads<T> / T::lanes;
  const int lane = threadIdx.x % T::lanes;
  const u32 p1 = both(p.p1), p2 = both(p.p2);
  const typename V::Padding<T> padding(p, lane);
  const auto follow_both = [&](int r) {
    const int y = min(y0 + r, p.height - 1);
    Row<T, V, false> rightward(p, sums, strip, r, y, lane);
    Row<T, V, true> leftward(p, sums, strip, r, y, lane);
#pragma unroll 1
    for (int i = 0; i < T::tile_width; i += columns) {
      const bool more = i + columns < T::tile_width;
      const int left_x = strip * T::tile_width + T::tile_width - columns - i, right_x = strip * T::tile_width + i;
      if (V::template Cost<T, columns>::in_memory && i && (i & (p.run - 1)) == 0) {
        normalise(rightward.state, rightward.low, p2);
        normalise(leftward.state, leftward.low, p2);
      }
#pragma unroll
      for (int k = 0; k < columns; ++k) {
        const bool first = T::tile_width == columns ? k < columns / 2 : i < T::tile_width / 2;
        rightward.advance_column(p, k, right_x, y, more, p1, padding, lane, first ? zeros : rightward.share);
        leftward.advance_column(p, k, left_x, y, more, p1, padding, lane, first ? zeros : leftward.share);
        reduce_two<T>(rightward.low, leftward.low);
        if (kPartial && left_x + columns - 1 - k >= p.width) clear(leftward.state, leftward.low);
      }
      rightward.share += columns * pixel_words<T>;
      leftward.share -= columns * pixel_words<T>;
    }
  };
  if constexpr (block_groups == tile_height) {
    follow_both(threadIdx.x / T::lanes);
  } else if constexpr (block_groups < tile_height) {
#pragma unroll 1
    for (int r = threadIdx.x / T::lanes; r < tile_height; r += block_groups) follow_both(r);
  } else {
    const int r = threadIdx.x % 32 / T::lanes, y = min(y0 + r, p.height - 1);
    const auto follow = [&](auto& row, bool left) {
#pragma unroll 1
      for (int i = 0; i < T::tile_width; i += columns) {
        const bool more = i + columns < T::tile_width;
        const int x = strip * T::tile_width + (left ? T::tile_width - columns - i : i);
        if (i == T::tile_width / 2) __syncthreads();
        if (i && (i & (p.run - 1)) == 0) normalise(row.state, row.low, p2);
#pragma unroll
        for (int k = 0; k < columns; ++k) {
          row.advance_column(p, k, x, y, more, p1, padding, lane, i < T::tile_width / 2 ? zeros : row.share);
          u32 low[1] = {row.low};
          reduce<T>(low);
          row.low = low[0];
          if (kPartial && left && x + columns - 1 - k >= p.width) clear(row.state, row.low);
        }
        row.share += (left ? -columns : columns) * pixel_words<T>;
      }
    };
    if (threadIdx.x < 32) {
      Row<T, V, false> row(p, sums, strip, r, y, lane);
      follow(row, false);
    } else {
      Row<T, V, true> row(p, sums, strip, r, y, lane);
      follow(row, true);
    }
  }
}

// ---- vertical and diagonal paths ------------------------------------------------------------------------------- Each
// direction of y has one warp, or two warps with half of the columns each. A group of lanes has adjacent columns.
template <class T>
constexpr int group_columns = columns / T::sense_warps;

template <class T>
struct Place : Position<T> {
  bool up = threadIdx.x / (32 * T::sense_warps), right_half = threadIdx.x / 32 % T::sense_warps;
  int column = (right_half * T::groups + this->group) * group_columns<T>;  // column within the tile
  bool first_group = this->group == 0, last_group = this->group == T::groups - 1;
  bool left_edge = first_group && !right_half, right_edge = last_group && (right_half || T::sense_warps == 1);
  // True if the group is next to the other half.
  bool inner = T::sense_warps == 2 && (right_half ? first_group : last_group);
};

// The states with which the paths of a group's columns enter the tile; zeros for paths that start there. All loads are
// in flight together, while the paths along rows are followed.
template <class T, class V>
struct StageDescriptor {
  PackedState<T> vertical[group_columns<T>], rightward[group_columns<T>], leftward[group_columns<T>];
  __device__ __forceinline__ StageDescriptor(const Problem& p, const Place<T>& at, int strip, int band) {
    const bool first_band = at.up ? band == p.bands - 1 : band == 0;
    const u8* const entering = p.entering[at.up];
    const int x0 = strip * T::tile_width + at.column;
    const auto from = [&](int dx) -> const u8* {
      return first_band ? stripe_state<T, V>(p, entering, dx, x0) : row_state<T, V>(p, at.up, dx, band, x0);
    };
    const u8 *const from_above = from(0), *const from_left = from(1), *const from_right = from(-1);
    const int width = first_band && entering == nullptr ? 0 : p.width;
#pragma unroll
    for (int c = 0; c < group_columns<T>; ++c) {
      const int x = x0 + c;
      vertical[c] = rightward[c] = leftward[c] = PackedState<T>{};
      if (x >= width) continue;
      vertical[c] = load_state_early<T>(from_above + c * T::range, at.lane);
      if (V::diagonals && x > 0) rightward[c] = load_state_early<T>(from_left + c * T::range, at.lane);
      if (V::diagonals && x < p.width - 1) leftward[c] = load_state_early<T>(from_right + c * T::range, at.lane);
    }
  }
};

// The states of one direction in the columns of a group, and the minima of the states.
template <class T>
struct Front {
  static constexpr int count = group_columns<T>;
  StateOf<T> state[count];
  u32 low[count];

  __device__ __forceinline__ explicit Front(const PackedState<T> (&entry)[count]) {
#pragma unroll
    for (int c = 0; c < count; ++c) {
      unpack<T>(state[c], entry[c]);
      low[c] = 0;
    }
  }
  // Moves all states to the next column to the right (kSense 1) or left (−1). States move in registers inside a group,
  // by shuffles between groups, and from `beyond` at the edge of the warp's columns.
  template <int kSense>
  __device__ __forceinline__ void move(const StateOf<T>& beyond, u32 low_beyond, bool edge) {
    constexpr int last = kSense > 0 ? count - 1 : 0, first = count - 1 - last;
    const auto shuffle = [](u32 v) {
      return kSense > 0 ? __shfl_up_sync(everywhere, v, T::lanes) : __shfl_down_sync(everywhere, v, T::lanes);
    };
#pragma unroll
    for (int j = 0; j < T::words; ++j) {
      const u32 in = shuffle(state[last][j]);
#pragma unroll
      for (int c = last; c != first; c -= kSense) state[c][j] = state[c - kSense][j];
      state[first][j] = edge ? beyond[j] : in;
    }
    const u32 in = shuffle(low[last]);
#pragma unroll
    for (int c = last; c != first; c -= kSense) low[c] = low[c - kSense];
    low[first] = edge ? low_beyond : in;
  }
};

// The data of a diagonal path that passes from one half of the columns to the other: its state and the minimum of the
// state.
template <class T>
struct Crossing {
  uint4 state[T::words / 4][T::lanes];
  u32 low[T::lanes];

  __device__ __forceinline__ void put(const StateOf<T>& s, u32 smallest, int lane) {
#pragma unroll
    for (int i = 0; i < T::words / 4; ++i)
      state[i][lane] = make_uint4(s[4 * i], s[4 * i + 1], s[4 * i + 2], s[4 * i + 3]);
    low[lane] = smallest;
  }
  __device__ __forceinline__ void get(StateOf<T>& s, u32& smallest, int lane) const {
#pragma unroll
    for (int i = 0; i < T::words / 4; ++i) {
      const uint4 v = state[i][lane];
      s[4 * i] = v.x, s[4 * i + 1] = v.y, s[4 * i + 2] = v.z, s[4 * i + 3] = v.w;
    }
    smallest = low[lane];
  }
};
// Indexed by even and odd rows, so that one barrier per row is sufficient; then by downward and upward, and by left and
// right.
template <class T>
using Crossings = Crossing<T>[2][2][2];

__device__ __forceinline__ void wait_for_other_half(bool up) {
  if (up)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
}

// Diagonal paths enter the next rows of a tile from the columns beside the tile. This class holds the path costs with
// which these paths enter, and 0 in lanes that no such path enters.
template <class T>
class Side {
 public:
  __device__ __forceinline__ Side(const Problem& p, const Place<T>& place, int strip, int y)
      : at_(side_state<T>(p, place.up, place.left_edge ? 1 : -1, strip, y) + place.lane * 2 * T::words),
        step_(place.up ? -T::range : T::range),
        any_(place.left_edge ? strip > 0 : place.right_edge && strip < p.strips - 1) {}
  // The predicate avoids a branch, after which the lanes would have to reconverge.
  __device__ __forceinline__ PackedState<T> next(bool more) {
    at_ += step_;
    PackedState<T> side;
#pragma unroll
    for (int i = 0; i < side.pieces; ++i) {
      u32(&w)[words / 2] = side.piece[i].w;
      asm volatile(
          "{.reg .pred wanted; setp.ne.u32 wanted, %5, 0;"
          "mov.u32 %0, 0; mov.u32 %1, 0; mov.u32 %2, 0; mov.u32 %3, 0;"
          "@wanted ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];}"
          : "=&r"(w[0]), "=&r"(w[1]), "=&r"(w[2]), "=&r"(w[3])
          : "l"(at_ + 16 * i), "r"((u32)(any_ && more)));
    }
    return side;
  }

 private:
  const u8* at_;
  int step_;
  bool any_;
};

// kPartial means that the strip extends beyond the right edge of the image, so that leftward paths start inside the
// tile.
template <class T, class V, bool kPartial>
__device__ __forceinline__ void tile_columns(const Problem& p, u32* sums, Crossings<T>& crossings, const Place<T>& at,
                                             const StageDescriptor<T, V>& entry, int strip, int band) {
  constexpr int count = group_columns<T>;
  using Cost = typename V::Cost<T, count>;
  const bool up = at.up;
  const u32 p1 = both(p.p1);
  const typename V::Padding<T> padding(p, at.lane);
  const int y0 = band * tile_height, rows = min(tile_height, p.height - y0);
  const int x0 = strip * T::tile_width + at.column;

  // The state at column c continues at the pixel (c, next row).
  Front<T> vertical(entry.vertical), rightward(entry.rightward), leftward(entry.leftward);
  const int sense = up ? -1 : 1;
  int r = up ? rows - 1 : 0;
  const int half = up ? rows - rows / 2 : rows / 2;  // number of rows before the two directions meet
  typename Cost::Cursor cursor(p, straight, x0, y0 + r, 0, sense, at.lane);
  Cost costs;
  costs.fetch(cursor);
  typename V::Penalty<count> next_penalty(p, up, x0, y0 + r);
  Side<T> sides(p, at, strip, y0 + r);
#pragma unroll 1
  for (int i = 0; i < rows; ++i, r += sense) {
    if (i == half) __syncthreads();
    const bool more = i + 1 < rows;
    PackedState<T> side;
    if constexpr (V::diagonals) side = sides.next(more);
    const auto penalty = next_penalty;
    if (more) next_penalty.fetch(p, up, x0, y0 + r + sense);
    u32* const share = share_of<T>(pixel_at<T>(sums, r, at.column), at.lane);
#pragma unroll
    for (int c = 0; c < count; ++c) {
      StateOf<T> cost, sum;
      costs.column(cost, c);
      padding.apply(cost);
      if (c == count - 1) {
        // Loads into the registers that were just read. The load is unconditional, because the compiler would otherwise
        // load into other registers and copy.
        if (more) cursor.step();
        costs.fetch(cursor);
      }
      u32 offset = vertical.low[c];
      const auto go_on = [&](Front<T>& front, int dx) {
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
      for (int j = 0; j < T::words; ++j) {
        // The kept values of a row exclude the matching costs of its two paths, so that each direction of y adds the
        // costs once.
        sum[j] = V::keeps_rows ? add(vertical.state[c][j], magnitude(cost[j])) : vertical.state[c][j];
        if (V::diagonals) sum[j] += rightward.state[c][j] + leftward.state[c][j];
      }
      accumulate(share + c * pixel_words<T>, share + c * pixel_words<T>, sum, offset);
    }
    reduce<T>(vertical.low);
    if constexpr (V::diagonals) {
      reduce<T>(rightward.low);
      reduce<T>(leftward.low);
      // A path that leaves the image ends. The next state of its column starts from zeros.
      if (kPartial) {
#pragma unroll
        for (int c = 0; c < count; ++c)
          if (x0 + c >= p.width) clear(leftward.state[c], leftward.low[c]);
      }
      StateOf<T> beyond;
      u32 low_beyond = 0;
      if constexpr (T::sense_warps == 2) {
        auto& crossing = crossings[i % 2][up];
        if (at.inner) {
          if (at.right_half)
            crossing[1].put(leftward.state[0], leftward.low[0], at.lane);
          else
            crossing[0].put(rightward.state[count - 1], rightward.low[count - 1], at.lane);
        }
        wait_for_other_half(up);
        unpack<T>(beyond, side, leftward.low[0]);  // not earlier, because the load may still be in flight until here
        if constexpr (T::groups > 1) {
          if (at.inner) crossing[!at.right_half].get(beyond, low_beyond, at.lane);
          __syncwarp();
        }
      } else {
        unpack<T>(beyond, side, leftward.low[0]);
      }
      if constexpr (T::groups > 1) {
        rightward.template move<1>(beyond, low_beyond, at.first_group);
        leftward.template move<-1>(beyond, low_beyond, at.last_group);
      } else {
        // The only group of a half has one neighbour in the other half and one beyond the tile.
        StateOf<T> other;
        u32 low_other;
        crossings[i % 2][up][!at.right_half].get(other, low_other, at.lane);
        if (at.right_half) {
          rightward.template move<1>(other, low_other, true);
          leftward.template move<-1>(beyond, 0, true);
        } else {
          rightward.template move<1>(beyond, 0, true);
          leftward.template move<-1>(other, low_other, true);
        }
      }
    }
  }
  if (half == rows) __syncthreads();  // with a single row, the other direction still waits in the middle
}

// Returns the memory for the sums of a tile. More than 48 KiB must be dynamic.
template <class T>
constexpr int dynamic_bytes = dynamic_sum_bytes(T::range);
template <class T>
__device__ __forceinline__ u32* tile_sums() {
  static_assert(dynamic_bytes<T> == 0 || dynamic_bytes<T> == tile_height * row_words<T> * 4);
  if constexpr (dynamic_bytes<T> > 0) {
    extern __shared__ uint4 sums[];
    return reinterpret_cast<u32*>(sums);
  } else {
    __shared__ alignas(16) u32 sums[tile_height * row_words<T>];
    return sums;
  }
}

// Data that is never needed at the same time. (With 64 disparities and 4 paths, six blocks just fit on a
// multiprocessor.)
template <class T>
union Scratch {
  Zeros<T> zeros;
  Finished<T> finished;
};

// Waits for a load to complete, although its value is not needed.
__device__ __forceinline__ void wait_for_word(u32 word) {
  asm volatile("{ .reg .pred never; setp.eq.u32 never, %0, 0xffffffff; @never nanosleep.u32 0; }" ::"r"(word));
}

// Returns the i-th of the strips whose rows are kept, or of the other strips.
template <class V>
__device__ __forceinline__ int strip_of(const Problem& p, int i) {
  if (V::keeps_rows) return p.kept_first + i;
  return i < p.kept_first ? i : i + p.kept_strips;
}

template <class T, class V>
__device__ __forceinline__ void sum_and_select(const Problem& p) {
  u32* const sums = tile_sums<T>();
  __shared__ alignas(16) Scratch<T> scratch;
  __shared__ Crossings<T> crossings;
  const int strips = V::keeps_rows ? p.kept_strips : p.strips - p.kept_strips;
  const int strip = strip_of<V>(p, blockIdx.x % strips), band = band_in_order<T, V>(p, blockIdx.x / strips),
            y0 = band * tile_height;
  const bool partial = !V::keeps_rows && (strip + 1) * T::tile_width > p.width;
  if (V::keeps_rows) let_next_kernel_start();  // the next kernel processes the tiles of the other strips
  wait_for_states<T, V>(p, band);
  if constexpr (!V::keeps_rows) clear_zeros<T>(scratch.zeros);
  __syncthreads();
  const Place<T> place;
  const auto follow_columns = [&](const StageDescriptor<T, V>& entry) {
    __syncthreads();
    if (V::diagonals && partial)
      tile_columns<T, V, true>(p, sums, crossings, place, entry, strip, band);
    else
      tile_columns<T, V, false>(p, sums, crossings, place, entry, strip, band);
    __syncthreads();
  };
  if constexpr (V::keeps_rows) {
    const u32 features = V::template Cost<T, columns>::preload(p, strip * T::tile_width, y0);
    const KeptRows<T> rows(p, strip, y0);
    const StageDescriptor<T, V> entry(p, place, strip, band);
    rows.put(sums);
    wait_for_word(features);
    follow_columns(entry);
  } else {
    const StageDescriptor<T, V> entry(p, place, strip, band);
    if (partial)
      tile_rows<T, V, true>(p, sums, scratch.zeros, strip, y0);
    else
      tile_rows<T, V, false>(p, sums, scratch.zeros, strip, y0);
    follow_columns(entry);
  }
  if (needs_blanks<T>(p, strip)) {
    blank<T>(p, sums, strip, y0);
    __syncthreads();
  }
  select<T>(p, sums, scratch.finished, strip, y0);
}

}  // namespace stereopsis::sgm_wta
