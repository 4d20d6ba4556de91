// Loads the data for the lines of the first pass in advance of the paths. Each group of lanes loads its own costs and
// penalties. Features may be loaded by a block for all its lines.
#pragma once

#include "device/cuda/split_barrier.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_costs.cuh"

namespace stereopsis::sgm_wta {

// Costs and penalties of a group's lines, loaded in advance of the paths. Loads into registers can be at most one row
// ahead: the compiler counts them together, so that waiting for one load waits for all later loads. If there are few
// warps, or if costs are read from memory, copies to shared memory run four rows ahead. With more warps, such copies
// only cost time.
template <class T, class V, BorderForm kForm>
struct Feed {
  static constexpr int N = kForm.lines;
  using Cost = typename V::LineCost<T, N>;
  using Penalty = typename V::Penalty<N>;
  static constexpr bool shared = kForm.source == Source::ring;
  // Number of rows buffered in registers; number of copies in flight; number of rows from the last evaluated row to the
  // last requested row.
  static constexpr int buffers = T::words == words && !shared ? 2 : 1, slots = 4;
  static constexpr int rows_ahead = shared ? slots + 1 : buffers + 1;
  static constexpr int slot_bytes = (Cost::slot_words + Penalty::slot_words) * 4 * slot_threads;
  static_assert(rows_ahead <= row_margin);

  const Problem& p;
  const bool up;
  const int dx, sense, first_y, last_x, back;  // the same values as in Lines
  typename Cost::Cursor cursor;                // cursor at column x of row `row`, the next row to request
  int x, row = 0;
  Cost costs[buffers];
  Penalty penalty[buffers];
  u32 slot, first_slot;

  __device__ __forceinline__ void advance() {
    cursor.step();
    x += dx;
    ++row;
  }
  // Wraps a path around the cylinder; the path was at column `column`.
  __device__ __forceinline__ void wrap(int column) {
    if (dx == 0 || column != last_x) return;
    cursor.jump(back);
    x += back;
  }
  __device__ __forceinline__ int row_of_penalties() const { return min(max(first_y + sense * row, 0), p.height - 1); }

  __device__ __forceinline__ void send() {
    Cost::send(slot, cursor);
    Penalty::send(slot + Cost::slot_words * 4 * slot_threads, p, up, x, row_of_penalties());
    asm volatile("cp.async.commit_group;");
    slot += slot_bytes;
    if (slot == first_slot + slots * slot_bytes) slot = first_slot;
    advance();
  }
  __device__ __forceinline__ void receive() {
    asm volatile("cp.async.wait_group %0;" ::"n"(slots - 1) : "memory");
    costs[0].receive(slot);
    penalty[0].receive(slot + Cost::slot_words * 4 * slot_threads);
  }
  __device__ __forceinline__ void fetch(int buffer) {
    costs[buffer].fetch(cursor);
    penalty[buffer].fetch(p, up, x, row_of_penalties());
    advance();
  }

  // Loads the first row, and requests the rows ahead of it except the last one.
  __device__ __forceinline__ void first() {
    if constexpr (shared) {
      __shared__ alignas(16) u8 ring[slots * slot_bytes];
      slot = first_slot = static_cast<u32>(__cvta_generic_to_shared(ring));
      costs[0].receive_from(cursor);
      penalty[0].fetch(p, up, x, first_y);  // a constant penalty is loaded only once
    }
#pragma unroll
    for (int i = 0; i + 1 < rows_ahead; ++i) {
      const int there = x;
      if constexpr (shared)
        send();
      else
        fetch(i);
      wrap(there);
    }
    if constexpr (shared) receive();
  }
  // Tells the feed that the data of the buffer has been evaluated.
  __device__ __forceinline__ void next(int buffer) {
    if constexpr (shared) {
      send();
      receive();
    } else {
      fetch(buffer);
    }
  }
};

// ---- rows of features for a block --------------------------------------------------------------------------------
// The lines of a block are `spacing` columns apart. The lines of a warp are at as few different positions within their
// strips as possible. The cylinder of the diagonal paths is much wider than the image. As long as any line of a block
// is in the image, no line has wrapped more often than the rightmost line. Therefore, the lines of a block need one
// contiguous part of the features in each row.
template <class T>
struct Arrangement {
  static constexpr int span = block_span(T::range, T::words), spacing = span / (border_warps * T::groups);
  static constexpr int spread = span - spacing, strips = span / T::tile_width;
  __device__ __forceinline__ static int offset(int warp, int group) {
    const int i = warp * T::groups + group;
    return i % strips * T::tile_width + i / strips * spacing;
  }
};

// The rank features for the lines of a block. The warps of the block take turns in copying rows of features into a ring
// in shared memory. At the end of a band, a warp copies the rows of the third band after it. The warp then waits for
// the copies that the other warps issued one band earlier.
template <class T, class V, BorderForm kForm>
struct BlockFeed {
  static constexpr int N = kForm.lines, words = T::words, buffers = 1, rows_ahead = 2;
  using Block = Arrangement<T>;
  // Right features from the last disparity of the leftmost line to the first disparity of the rightmost line, in parts
  // of one word per lane, and left features. A gap of 4 words between the parts keeps the lanes of a load on different
  // banks.
  static constexpr int right_words = Block::spread + T::half + N - 1, parts = (right_words + 31) / 32;
  static constexpr int part_bytes = 36 * 4, row_bytes = parts * part_bytes + 32 * 4;
  static constexpr int slots = 4 * tile_height;  // number of rows in the ring
  static constexpr int pieces = words / 4;
  static_assert(Block::spread + 3 + N <= 32 * 4, "a lane copies one word of left features");
  // Lines outside the image read features in the margins:
  static_assert(row_margin * (T::right_margin_of_zero + right_margin) > Block::span + 32 * parts,
                "what is copied beyond a row lies in the rows around");

  struct Columns {
    u32 right[words + N - 1], left;
    __device__ __forceinline__ void column(StateOf<T>& cost, int c, u32 after) const {
      const u32 l = byte_of(left, c, after);
#pragma unroll
      for (int j = 0; j < words; ++j) cost[j] = subtract(l, right[words - 1 + c - j]);
    }
  };

  const Problem& p;
  const int warp, right_by, left_by, back;  // distances in memory from one row to the next, and around the cylinder
  const int first_band;                     // number of rows of the first band
  const u32* right;                         // position of the features in row 0
  const u8* left;
  int turn;  // row in which the rightmost line wraps
  u32 ring, take_right[pieces + 1], take_left;
  int band = 0;  // number of bands that have ended
  SplitBarrier met;
  Columns costs[1];
  typename V::Penalty<N> penalty[1];

  // `offset` is the offset of a group's line. The rightmost line of the block is in column `rightmost` of row 0,
  // first_y.
  __device__ __forceinline__ BlockFeed(const Problem& problem, Slope slope, int dx, int sense, int first_y,
                                       int rows_of_first_band, int warp_, int offset, int lane, int rightmost)
      : p(problem),
        warp(warp_),
        right_by(sense * problem.pitch[straight] + dx),
        left_by(sense * problem.pitch[slope] + dx),
        back(dx > 0 ? -problem.around : problem.around),
        first_band(rows_of_first_band),
        turn(dx > 0   ? problem.around - 1 - rightmost
             : dx < 0 ? rightmost + 2
                      : problem.height + slots) {
    static_assert(slots * row_bytes <= border_bytes<T::range>);
    ring = static_cast<u32>(__cvta_generic_to_shared(border_memory<T::range>()));
    const int leftmost = rightmost - Block::spread, first_right = T::right_margin_of_zero + leftmost - T::half + 1;
    const int first_left = first_y * p.pitch[slope] + left_margin + leftmost, odd = first_left & 3;
    right = p.right[straight] + first_y * p.pitch[straight] + first_right + threadIdx.x % 32;
    left = p.left[slope] + first_left - odd + threadIdx.x % 32 * 4;
    const int window = offset + T::half - words * (lane + 1);
#pragma unroll
    for (int i = 0; i <= pieces; ++i) {
      const int word = window + 4 * i;
      take_right[i] = slot_before(first_band + 2) + word / 32 * part_bytes + word % 32 * 4;
    }
    take_left = slot_before(first_band + 2) + parts * part_bytes + odd + offset;
  }

  // Returns a slot at the end of the ring, `rows` rows before those that start at the first slot.
  __device__ __forceinline__ u32 slot_before(int rows) const { return ring + (slots - rows) * row_bytes; }

  // Copies up to `count` rows, starting at row `row`. A block wraps at most once between two calls for the same warp.
  __device__ __forceinline__ void send(int row, int count, u32 to) {
    if (V::diagonals && row >= turn) right += back, left += back, turn += p.around;
    count = min(count, p.height - row);
    const int before_turn = V::diagonals ? min(count, turn - row) : count;
    const u32* from = right + row * right_by;
    const u8* from_left = left + row * left_by;
    to += threadIdx.x % 32 * 4;
    const auto copy = [&](int rows) {
#pragma unroll 1
      for (; rows > 0; --rows) {
#pragma unroll
        for (int k = 0; k < parts; ++k) copy_word(to + k * part_bytes, from + k * 32);
        copy_word(to + parts * part_bytes, from_left);
        from += right_by, from_left += left_by, to += row_bytes;
      }
    };
    copy(before_turn);
    if constexpr (V::diagonals) {
      from += back, from_left += back;
      copy(count - before_turn);
    }
  }
  __device__ __forceinline__ static void copy_word(u32 to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
  }
  __device__ __forceinline__ void next(int) {
    Columns& columns = costs[0];
#pragma unroll
    for (int i = 0; i < pieces; ++i)
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(columns.right[4 * i]), "=r"(columns.right[4 * i + 1]), "=r"(columns.right[4 * i + 2]),
                     "=r"(columns.right[4 * i + 3])
                   : "r"(take_right[i]));
    if constexpr (N == 2) {
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(columns.right[words]) : "r"(take_right[pieces]));
      asm volatile("ld.shared.u16 %0, [%1];" : "=r"(columns.left) : "r"(take_left));
    } else {
      asm volatile("ld.shared.u8 %0, [%1];" : "=r"(columns.left) : "r"(take_left));
    }
    move(row_bytes);
  }
  __device__ __forceinline__ void move(int bytes) {
#pragma unroll
    for (u32& at : take_right) at += bytes;
    take_left += bytes;
  }

  // Loads the first row. The copies for a band start with the third row of the band, because two rows are loaded in
  // advance.
  __device__ __forceinline__ void first() {
    __shared__ u64 barrier;
    met.start(barrier, 32 * border_warps);
    penalty[0].fetch(p, false, 0, 0);
    if (warp == border_warps - 1) send(0, first_band + 2, slot_before(first_band + 2));
    if (warp < 2) send(first_band + 2 + warp * tile_height, tile_height, ring + warp * tile_height * row_bytes);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    next(0);
  }
  __device__ __forceinline__ void second() {
    next(0);
    met.arrive();
  }
  // Ends a band before `row`. All warps have left the previous band, whose slots are now free, and have copied the next
  // rows.
  __device__ __forceinline__ void end_band(int row) {
    constexpr int bands_of_ring = slots / tile_height;
    if (band % bands_of_ring == 0) move(-slots * row_bytes);  // the first band ends at the end of the ring
    asm volatile("cp.async.wait_all;" ::: "memory");
    met.wait(band);
    met.arrive();
    constexpr int rows = tile_height / 2;
    if (warp / 2 == band % 2) {
      const int mine = warp % 2 * rows, slot = (band + 2) % bands_of_ring * tile_height + mine;
      send(row + 2 + 2 * tile_height + mine, rows, ring + slot * row_bytes);
    }
    ++band;
  }
};

}  // namespace stereopsis::sgm_wta
