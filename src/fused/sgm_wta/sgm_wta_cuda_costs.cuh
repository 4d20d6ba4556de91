// The inputs of a step of a path (matching costs and P2), and the variants of kernels that combine them.
#pragma once

#include <type_traits>

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

// ---- matching costs of N adjacent columns ---------------------------------------------------------------------- A
// class of costs has a Cursor, which walks over the image in equal steps. The function fetch() loads N columns at the
// cursor, and column() returns the costs of one column. Costs may be negative half floats, because a step uses their
// magnitude. The function look_ahead() prefetches the data that the cursor reaches in `steps_ahead` steps. The data
// that all rows together prefetch must fit in the L2 cache until it is used.
template <class T>
constexpr int steps_ahead = T::range >= 256 ? tuning.steps_ahead_256 : tuning.steps_ahead;
// Straight: x is constant; falling: x − y is constant; rising: x + y is constant.
enum Slope { straight, falling, rising };

// Copies data to shared memory asynchronously, and reads it there. A slot, the part of the ring for one copy, has word
// 0 of all threads, then word 1 of all threads, and so on. Pieces of 8 or 16 bytes occupy 2 or 4 words.
constexpr int slot_threads = 32 * border_warps;
template <int kBytes>
__device__ __forceinline__ u32 place_in(u32 slot, int word) {
  return slot + word * 4 * slot_threads + threadIdx.x * kBytes;
}
template <int kBytes>
__device__ __forceinline__ void copy_ahead(u32 slot, int word, const void* from) {
  // Pieces of 16 bytes are costs. No other warp reads them soon, so these loads bypass the L1 cache.
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place_in<16>(slot, word)), "l"(from));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place_in<kBytes>(slot, word)), "l"(from),
                 "n"(kBytes));
}
template <int kBytes>
__device__ __forceinline__ void take(u32 slot, int word, u32* to) {
  const u32 at = place_in<kBytes>(slot, word);
  if constexpr (kBytes == 16)
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
  else if constexpr (kBytes == 8)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at));
  else
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(to[0]) : "r"(at));
}

// The cost |R_left − R_right|. The differences that a lane computes for N columns need 8 + N − 1 consecutive right
// pairs.
template <class T, int N>
struct RankCost {
  static constexpr bool in_memory = false;  // costs are read from the caches
  u32 right[T::words + N];                  // the first pair only completes the aligned loads
  u32 left;
  u32 first_left = 0xd0d0;  // selects the byte of `left` for the first column

  struct Cursor {
    const u32* right;
    const u8* left;
    int by;  // step of the cursor in memory; both views have the same pitch
    __device__ __forceinline__ Cursor(const Problem& p, Slope slope, int x, int y, int dx, int dy, int lane) {
      const int pitch = p.pitch[slope];
      right = p.right[slope] + (T::right_margin_of_zero - lane * T::words - T::words);
      left = p.left[slope] + left_margin;
      by = dy * pitch + dx;
      jump(y * pitch + x);
    }
    __device__ __forceinline__ void step() { jump(by); }
    __device__ __forceinline__ void jump(int dx) { right += dx, left += dx; }
  };

  // Features remain in the caches, so that no look-ahead is needed.
  __device__ __forceinline__ static void look_ahead(const Cursor&) {}
  __device__ __forceinline__ void fetch(const Cursor& cursor) {
    if constexpr (N == 4) {
#pragma unroll
      for (int i = 0; i < T::words / 4 + 1; ++i) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(cursor.right) + i);
        right[4 * i] = v.x, right[4 * i + 1] = v.y, right[4 * i + 2] = v.z, right[4 * i + 3] = v.w;
      }
      left = __ldg(reinterpret_cast<const u32*>(cursor.left));
    } else {
#pragma unroll
      for (int i = 0; i < T::words / 2 + 1; ++i) {
        const uint2 v = __ldg(reinterpret_cast<const uint2*>(cursor.right) + i);
        right[2 * i] = v.x, right[2 * i + 1] = v.y;
      }
      asm("ld.global.nc.u16 %0, [%1];" : "=r"(left) : "l"(cursor.left));
    }
  }
  __device__ __forceinline__ void column(StateOf<T>& cost, int c, u32 after = 0) const {
    // Without this use, the register of right[0] would be free while its load is in flight, and its next user would
    // wait for the load. (The sign of the value is 0.)
    if (N == columns && c == 0) after = right[0];
    const u32 l = permute(left, after, first_left + 0x101 * c);
#pragma unroll
    for (int j = 0; j < T::words; ++j) cost[j] = subtract(l, right[T::words + c - j]);
  }

  // Prefetches the features of a tile to the L1 cache. Each thread requests one line of 128 bytes. The result must be
  // used at the point where the data should have arrived.
  __device__ __forceinline__ static u32 preload(const Problem& p, int x, int y0) {
    // Pairs of a row, and cache lines of a row.
    constexpr int pairs = T::tile_width + T::half, lines = pairs * 4 / 128 + 2;
    const int thread = threadIdx.x, left = thread - tile_height * lines;
    u32 word_of_line = 0;
    if (left < 0) {
      const int y = min(y0 + thread / lines, p.height - 1);
      const u32* row = p.right[0] + y * p.pitch[0] + x + (T::right_margin_of_zero - T::half);
      const u32* word = row + min(thread % lines * 32, pairs - 1);
      asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word_of_line) : "l"(word));
    } else if (left < 2 * tile_height) {
      const int y = min(y0 + left / 2, p.height - 1);
      const u8* byte = p.left[0] + y * p.pitch[0] + x + left_margin + left % 2 * (T::tile_width - 1);
      asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(word_of_line) : "l"(byte));
    }
    return word_of_line;
  }

  // Each thread copies its data through shared memory, in pieces of two words. For the left features, the aligned word
  // is copied. The features of a path stay at the same position in this word.
  static constexpr int pieces = (T::words + N) / 2, slot_words = 2 * pieces + 1;
  __device__ __forceinline__ static void send(u32 slot, const Cursor& cursor) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) copy_ahead<8>(slot, 2 * i, cursor.right + 2 * i);
    copy_ahead<4>(slot, 2 * pieces, cursor.left - odd_bytes(cursor));
  }
  __device__ __forceinline__ void receive(u32 slot) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) take<8>(slot, 2 * i, right + 2 * i);
    take<4>(slot, 2 * pieces, &left);
  }
  __device__ __forceinline__ void receive_from(const Cursor& cursor) {
    first_left = kept(0xd0d0 + 0x101 * odd_bytes(cursor));
  }
  __device__ __forceinline__ static u32 odd_bytes(const Cursor& cursor) {
    return reinterpret_cast<u64>(cursor.left) % 4;
  }
};

// Any cost that was evaluated once and is stored in bytes.
template <class T, int N>
struct VolumeCost {
  static constexpr bool in_memory = true;
  static constexpr int pieces = T::words / words;
  Packed bytes[N][pieces];

  struct Cursor {
    const u8* row;
    i64 pitch;
    int x, dx, width, lane;
    __device__ __forceinline__ Cursor(const Problem& p, Slope, int x_, int y, int dx_, int dy, int lane_)
        : row(p.volume + (i64)y * p.width * T::range),
          pitch((i64)dy * p.width * T::range),
          x(x_),
          dx(dx_),
          width(p.width),
          lane(lane_) {}
    __device__ __forceinline__ void step() { row += pitch, x += dx; }
    __device__ __forceinline__ void jump(int by) { x += by; }
  };

  // Costs are read from memory, whose latency exceeds one step.
  __device__ __forceinline__ static void look_ahead(const Cursor& at) {
    const u8* row = at.row + steps_ahead<T> * at.pitch + at.lane * (16 * pieces);
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const int x = min(max(at.x + steps_ahead<T> * at.dx + c, 0), at.width - 1);
      asm volatile("prefetch.global.L2 [%0];" ::"l"(row + x * T::range));
    }
  }
  __device__ __forceinline__ void fetch(const Cursor& at) {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const int x = min(max(at.x + c, 0), at.width - 1);
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(at.row + x * T::range) + at.lane * pieces + i);
        bytes[c][i] = {v.x, v.y, v.z, v.w};
      }
    }
  }
  __device__ __forceinline__ void column(StateOf<T>& cost, int c, u32 after = 0) const {
#pragma unroll
    for (int i = 0; i < pieces; ++i) unpack(cost, bytes[c][i], after, i * words);
  }

  static constexpr int slot_words = N * pieces * 4;
  __device__ __forceinline__ static void send(u32 slot, const Cursor& at) {
#pragma unroll
    for (int c = 0; c < N; ++c) {
      const u8* from = at.row + min(max(at.x + c, 0), at.width - 1) * T::range + at.lane * (16 * pieces);
#pragma unroll
      for (int i = 0; i < pieces; ++i) copy_ahead<16>(slot, 4 * (c * pieces + i), from + 16 * i);
    }
  }
  __device__ __forceinline__ void receive(u32 slot) {
#pragma unroll
    for (int c = 0; c < N; ++c)
#pragma unroll
      for (int i = 0; i < pieces; ++i) take<16>(slot, 4 * (c * pieces + i), bytes[c][i].w);
  }
  __device__ __forceinline__ void receive_from(const Cursor&) {}
};

// Costs of at most 63, stored in six bits, which reduces the volume by a quarter. A lane has 16 costs of a pixel, which
// occupy three words: a, b and c. Both costs of a word of the lane lie at the same position in the two halves of one of
// these words. a has words 0 and 1 and the upper four bits of 6. c has words 4 and 5 and the upper four bits of 7. b
// has words 2 and 3, and two bits each of 6 and 7.
struct SixBits {
  u32 a, b, c;

  // Packs bytes that have the order of pack().
  __device__ __forceinline__ static SixBits of(const Packed& bytes) {
    const auto six_each = [](u32 w) { return __byte_perm(w, 0, 0x4140) + (__byte_perm(w, 0, 0x4342) << 6); };
    const u32 words_2_3 = __byte_perm(bytes.w[1], 0, 0x3120), words_6_7 = __byte_perm(bytes.w[3], 0, 0x3120);
    return {six_each(bytes.w[0]) + ((words_6_7 & 0x003c003c) << 10), words_2_3 + ((words_6_7 & 0x03030303) << 6),
            six_each(bytes.w[2]) + ((words_6_7 & 0x3c003c00) << 2)};
  }
  // The function must not run before `after` is known, as in byte_of().
  __device__ __forceinline__ void unpack(u32* cost, u32 after) const {
    const u32 six = permute(0x3f, after, 0xd0d0), a_high = a >> 6, b_high = b >> 8, c_high = c >> 6;
    cost[0] = a & six, cost[1] = a_high & six;
    cost[2] = b & six, cost[3] = b_high & six;
    cost[4] = c & six, cost[5] = c_high & six;
    cost[6] = joined(a_high & 0x03c003c0, b & 0x00c000c0);
    cost[7] = joined(c_high & 0x03c003c0, b_high & 0x00c000c0);
  }
  // Returns (4 high + low) / 64, exactly, in half floats, because the ALU pipe is busy.
  __device__ __forceinline__ static u32 joined(u32 high, u32 low) {
    u32 cost;
    asm("{ .reg .b32 sum;\n\t"
        "fma.rn.f16x2 sum, %1, %3, %2;\n\t"
        "mul.rn.f16x2 %0, sum, %4; }"
        : "=r"(cost)
        : "r"(high), "r"(low), "r"(0x44004400), "r"(0x24002400));
    return cost;
  }
};

// A volume of six-bit costs. Four columns are stored together, as three lines of 16 bytes for each lane of 8 words: a
// and b of two columns, a and b of the other two columns, c of all four columns.
template <class T>
constexpr int quad_bytes = 3 * T::range;
template <class T>
__device__ __forceinline__ i64 six_bit_row(const Problem& p) {
  return quads_of_row(p) * quad_bytes<T>;
}

// Loads N adjacent columns within a quad of four columns, which is sufficient for all paths except diagonal ones.
template <class T, int N>
struct SixBitCost {
  static constexpr bool in_memory = true;
  static constexpr int pieces = T::words / words;
  u32 ab[pieces][2 * N], c[pieces][N];

  struct Cursor {
    const u8* row;
    i64 pitch;
    int x, dx, last;
    __device__ __forceinline__ Cursor(const Problem& p, Slope, int x_, int y, int dx_, int dy, int lane)
        : row(p.volume + y * six_bit_row<T>(p) + lane * 16 * pieces),
          pitch(dy * six_bit_row<T>(p)),
          x(x_),
          dx(dx_),
          last((p.width - 1) / 4 * 4 + 4 - N) {}
    __device__ __forceinline__ void step() { row += pitch, x += dx; }
    __device__ __forceinline__ void jump(int by) { x += by; }
    __device__ __forceinline__ u32 column(int steps = 0) const { return min(max(x + steps * dx, 0), last); }
    __device__ __forceinline__ const u8* quad(int steps = 0) const {
      return row + steps * pitch + column(steps) / 4 * quad_bytes<T>;
    }
    __device__ __forceinline__ int pair() const { return column() / 2 % 2; }
  };

  __device__ __forceinline__ static void look_ahead(const Cursor& at) {
#pragma unroll
    for (int i = 0; i < 3; ++i) asm volatile("prefetch.global.L2 [%0];" ::"l"(at.quad(steps_ahead<T>) + i * T::range));
  }
  __device__ __forceinline__ void fetch(const Cursor& at) {
    static_assert(N == 2 || N == 4);
    const u8* const quad = at.quad();
#pragma unroll
    for (int k = 0; k < pieces; ++k) {
#pragma unroll
      for (int i = 0; i < N / 2; ++i) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(quad + (N == 2 ? at.pair() : i) * T::range) + k);
        ab[k][4 * i] = v.x, ab[k][4 * i + 1] = v.y, ab[k][4 * i + 2] = v.z, ab[k][4 * i + 3] = v.w;
      }
      if constexpr (N == 4) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(quad + 2 * T::range) + k);
        c[k][0] = v.x, c[k][1] = v.y, c[k][2] = v.z, c[k][3] = v.w;
      } else {
        const uint2 v = __ldg(reinterpret_cast<const uint2*>(quad + 2 * T::range) + 2 * k + at.pair());
        c[k][0] = v.x, c[k][1] = v.y;
      }
    }
  }
  __device__ __forceinline__ void column(StateOf<T>& cost, int i, u32 after = 0) const {
#pragma unroll
    for (int k = 0; k < pieces; ++k) SixBits{ab[k][2 * i], ab[k][2 * i + 1], c[k][i]}.unpack(cost + k * words, after);
  }

  static constexpr int slot_words = 3 * N;
  __device__ __forceinline__ static void send(u32 slot, const Cursor& at) {
    static_assert(N == 2 && pieces == 1);
    copy_ahead<16>(slot, 0, at.quad() + at.pair() * T::range);
    copy_ahead<8>(slot, 4, at.quad() + 2 * T::range + at.pair() * 8);
  }
  __device__ __forceinline__ void receive(u32 slot) {
    take<16>(slot, 0, ab[0]);
    take<8>(slot, 4, c[0]);
  }
  __device__ __forceinline__ void receive_from(const Cursor&) {}
};

// Loads N adjacent columns from any column on, for the lines of 8 paths (Source::memory). Columns outside the image are
// part of the surrounding rows.
template <class T, int N>
struct SixBitColumns : SixBitCost<T, N> {
  using Base = SixBitCost<T, N>;
  using Base::ab, Base::c, Base::pieces;
  using typename Base::Cursor;

  __device__ __forceinline__ void fetch(const Cursor& at) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int x = at.x + i, quad = (x >> 2) * quad_bytes<T>;
      const u8* const from_ab = at.row + (quad + (x & 2) * (T::range / 2) + (x & 1) * 8);
      const u8* const from_c = at.row + (quad + 2 * T::range + (x & 3) * 4);
#pragma unroll
      for (int k = 0; k < pieces; ++k) {
        const uint2 v = __ldg(reinterpret_cast<const uint2*>(from_ab) + 2 * k);
        ab[k][2 * i] = v.x, ab[k][2 * i + 1] = v.y;
        c[k][i] = __ldg(reinterpret_cast<const u32*>(from_c) + 4 * k);
      }
    }
  }
};

// ---- disparities beyond the searched ones ---------------------------------------------------------------------- The
// costs of these padding disparities are so large that they cannot win.
template <class T>
struct PaddedCosts {
  StateOf<T> bits;
  __device__ __forceinline__ PaddedCosts(const Problem& p, int lane) {
#pragma unroll
    for (int j = 0; j < T::words; ++j) {
      const int d = lane * T::words + j;
      bits[j] = (d >= p.disparities ? far & 0xffff : 0) | (d + T::half >= p.disparities ? far & 0xffff0000 : 0);
    }
  }
  __device__ __forceinline__ void apply(StateOf<T>& cost) const {
#pragma unroll
    for (int j = 0; j < T::words; ++j) cost[j] |= bits[j];
  }
};
// There are no padding disparities, or a volume of costs contains 255 for them, which is sufficient (see cuda_serves()
// on the host).
template <class T>
struct AllCosts {
  __device__ __forceinline__ AllCosts(const Problem&, int) {}
  __device__ __forceinline__ void apply(StateOf<T>&) const {}
};

// ---- P2 of N adjacent columns ---------------------------------------------------------------------------------- The
// bytes of a penalty word belong to the paths of one direction of y, and to one path along the row.
__host__ __device__ constexpr int penalty_byte(int dx) { return dx == 0 ? 0 : dx > 0 ? 1 : 2; }
constexpr int penalty_byte_along_row = 3;

template <int N>
struct ConstantPenalty {
  static constexpr int slot_words = 0;
  u32 p2;
  ConstantPenalty() = default;
  __device__ __forceinline__ ConstantPenalty(const Problem& p, bool up, int x, int y) { fetch(p, up, x, y); }
  __device__ __forceinline__ void fetch(const Problem& p, bool, int, int) { p2 = p.p2_pair; }
  __device__ __forceinline__ static void send(u32, const Problem&, bool, int, int) {}
  __device__ __forceinline__ void receive(u32) {}
  __device__ __forceinline__ u32 of(int, int) const { return p2; }
};

template <int N>
struct GradientPenalty {
  static constexpr int slot_words = N;
  u32 word[N];
  GradientPenalty() = default;
  __device__ __forceinline__ GradientPenalty(const Problem& p, bool up, int x, int y) { fetch(p, up, x, y); }
  __device__ __forceinline__ static const u32* at(const Problem& p, bool up, int x, int y) {
    return p.penalties + (up ? p.penalty_plane : 0) + (i64)y * p.penalty_pitch + x + left_margin;
  }
  __device__ __forceinline__ void fetch(const Problem& p, bool up, int x, int y) {
    const u32* from = at(p, up, x, y);
    if constexpr (N == 4) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
      word[0] = v.x, word[1] = v.y, word[2] = v.z, word[3] = v.w;
    } else {
#pragma unroll
      for (int c = 0; c < N; ++c) word[c] = __ldg(from + c);
    }
  }
  __device__ __forceinline__ static void send(u32 slot, const Problem& p, bool up, int x, int y) {
#pragma unroll
    for (int c = 0; c < N; ++c) copy_ahead<4>(slot, c, at(p, up, x, y) + c);
  }
  __device__ __forceinline__ void receive(u32 slot) {
#pragma unroll
    for (int c = 0; c < N; ++c) take<4>(slot, c, word + c);
  }
  __device__ __forceinline__ u32 of(int c, int byte) const { return byte_of(word[c], byte); }
};

// The components that define a variant of the kernels.
template <template <class, int> class CostOf, template <class> class PaddingOf, template <int> class PenaltyOf,
          int kPaths, bool kEarlyMinimum = false, template <class, int> class LineCostOf = CostOf,
          bool kKeepsRows = false>
struct Variant {
  template <class T, int N>
  using Cost = CostOf<T, N>;
  template <class T, int N>
  using LineCost = LineCostOf<T, N>;  // cost for vertical and diagonal paths in the first pass
  template <class T>
  using Padding = PaddingOf<T>;
  template <int N>
  using Penalty = PenaltyOf<N>;
  static constexpr int paths = kPaths;
  static constexpr bool diagonals = kPaths == 8;
  static constexpr bool has_constant_penalty = PenaltyOf<1>::slot_words == 0;
  // If no cost exceeds P2, the minimum is min L(p) = min C + min(from[d], from[d ± 1] + P1), without the last term of
  // equation 4. The reason is that the right side is at most C + min(from), at the d of that minimum. The step
  // therefore need not wait for min(from).
  static constexpr bool early_minimum = kEarlyMinimum;
  // The first pass stores the contributions of paths along rows to the sums of kept strips. The tiles of these strips
  // then do not follow those paths (sgm_wta_cuda_rows.cuh).
  static constexpr bool keeps_rows = kKeepsRows;
  // With 4 paths, rows run together with too few other warps to hide the latency of memory. With 8 paths, additional
  // requests only cost time.
  static constexpr bool looks_ahead = !diagonals;
};

}  // namespace stereopsis::sgm_wta
