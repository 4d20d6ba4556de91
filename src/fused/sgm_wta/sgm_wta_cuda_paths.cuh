// One step of a path, and the form in which states of a path are stored.
//
// Path costs are pairs of unsigned 16-bit integers. All path costs remain below 2048, where the bit pattern of a half
// float is linear in its value (subnormals and the first binade). An addition of half floats therefore adds the
// *integers* exactly. Additions can therefore run in the FMA pipe. Minima stay on the ALU pipe, which has half the
// rate.
//
// Each lane has W words. Word j of lane l holds the disparities W l + j and half + W l + j. The neighbours d − 1 and d
// + 1 are then in the neighbouring words, in both halves at once.
//
// Path costs are not normalised in every step: L~(p) = C + min(L~(p − r), …) grows by at most the largest cost per
// step. When sums are computed, L = L~ − min L~(p − r) (equation 4) is restored with one subtraction for all paths of a
// pixel. A stored state is min(L~ − min L~, P2), because larger values never win against the last term of equation 4.
// The state fits in 8 bits if P2 does. The first pixel of a path (L = C) follows a state of zeros, so that borders need
// no special case.
#pragma once

#include <cuda_fp16.h>

#include "device/cuda/words.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_problem.hpp"

namespace stereopsis::sgm_wta {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int feature_threads = tuning.feature_threads, feature_columns = tuning.feature_columns;
constexpr int right_columns = tuning.right_columns;
// A block's costs must fit in shared memory.
template <class T>
constexpr int volume_columns = T::range <= 256 ? tuning.volume_columns : tuning.volume_columns * 256 / T::range;
template <class T>
constexpr int volume_threads = volume_columns<T>;
constexpr int volume_blocks = tuning.volume_blocks;

constexpr int words = 8;    // number of words in each piece of a stored state
// Number of adjacent columns that a group processes; right features are loaded with one aligned load of 16 bytes.
constexpr int columns = 4;
constexpr u32 everywhere = ~0u;
// 32768.0 in both halves: adding a path cost does not change this value, and no minimum selects it.
constexpr u32 far = 0x78007800;
template <class T>
using StateOf = u32[T::words];

// ---- pairs of 16-bit integers ----------------------------------------------------------------------------------
__device__ __forceinline__ u32 both(u32 value) { return value * 0x10001u; }
__device__ __forceinline__ u32 add(u32 a, u32 b) {
  u32 sum;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
// Adds two words on the pipe for integer multiplications. `one` is 1, but the compiler must not know its value.
__device__ __forceinline__ u32 add(u32 a, u32 b, u32 one) {
  u32 sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(one), "r"(b));
  return sum;
}
__device__ __forceinline__ u32 subtract(u32 a, u32 b) {
  u32 difference;
  asm("sub.f16x2 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
}
// This operation becomes a modifier of the instruction that uses its result.
__device__ __forceinline__ u32 magnitude(u32 a) {
  u32 result;
  asm("abs.f16x2 %0, %1;" : "=r"(result) : "r"(a));
  return result;
}
// Minima of path costs or sums. Compute capability 9.0 has instructions for integers. Elsewhere, these would take several
// instructions each, and minima of half floats select the same bits, because the bits of positive half floats have the
// order of the values.
constexpr bool has_integer_minima = gpu::compiled_capability / 10 == 9;
__device__ __forceinline__ u32 smaller(u32 a, u32 b) {
  if constexpr (has_integer_minima) return __vminu2(a, b);
  u32 result;
  asm("min.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
__device__ __forceinline__ u32 smallest(u32 a, u32 b, u32 c) {
  if constexpr (has_integer_minima) return __vimin3_u16x2(a, b, c);
  return smaller(smaller(a, b), c);
}
// Returns min(a + b, c).
__device__ __forceinline__ u32 smaller_sum(u32 a, u32 b, u32 c) {
  if constexpr (has_integer_minima) return __viaddmin_u16x2(a, b, c);
  return smaller(add(a, b), c);
}
// Returns min(a − b, c), where b has the same value in both halves.
__device__ __forceinline__ u32 smaller_difference(u32 a, u32 b, u32 c) {
  if constexpr (has_integer_minima) return __viaddmin_u16x2(a, __byte_perm(0 - b, 0, 0x1010), c);
  return smaller(subtract(a, b), c);
}
template <int kWords>
__device__ __forceinline__ u32 smallest_of(const u32 (&v)[kWords]) {
  u32 m = v[0];
#pragma unroll
  for (int j = 1; j + 1 < kWords; j += 2) m = smallest(m, v[j], v[j + 1]);
  return smaller(m, v[kWords - 1]);
}
// Permutes bytes like __byte_perm, but a byte number plus 8 selects copies of the sign of that byte.
__device__ __forceinline__ u32 permute(u32 a, u32 b, u32 selector) {
  u32 result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
}
// Returns byte `i` of a word in both halves. The function waits until `after`, a pair of path costs, is known; the sign
// of this pair provides the zeros.
__device__ __forceinline__ u32 byte_of(u32 word, int i, u32 after = 0) {
  return permute(word, after, 0xd0d0 + 0x101 * i);
}

__device__ __forceinline__ int quads_of_row(const Problem& p) { return (p.width + columns - 1) / columns; }
__device__ __forceinline__ int clamp_column(const Problem& p, int x) { return min(max(x, 0), p.width - 1); }

template <class T>
struct Position {
  int lane = threadIdx.x % T::lanes, group = threadIdx.x % 32 / T::lanes;
};

// Returns a value that the compiler keeps in a register. Otherwise, the compiler would compute or load the value again
// in every step.
__device__ __forceinline__ int kept(int value) {
  const int thread = threadIdx.x;
  return __shfl_sync(everywhere, value + thread, thread % 32) - thread;
}

// ---- one step of a path ---------------------------------------------------------------------------------------- The
// words just before and just after the words of a lane. The index of the source lane wraps inside the group. Beyond
// both ends, the word is `far`.
template <class T>
struct Neighbours {
  int lane_before, lane_after, take_before, take_after;
  __device__ __forceinline__ explicit Neighbours(int lane)
      : lane_before(lane - 1),
        lane_after(lane + 1),
        take_before(lane == 0 ? 0x1054 : 0x3210),
        take_after(lane == T::lanes - 1 ? 0x5432 : 0x3210) {}
  __device__ __forceinline__ void keep() {
    lane_before = kept(lane_before), lane_after = kept(lane_after);
    take_before = kept(take_before), take_after = kept(take_after);
  }
  __device__ __forceinline__ u32 before(const StateOf<T>& state) const {
    return __byte_perm(__shfl_sync(everywhere, state[T::words - 1], lane_before, T::lanes), far, take_before);
  }
  __device__ __forceinline__ u32 after(const StateOf<T>& state) const {
    return __byte_perm(__shfl_sync(everywhere, state[0], lane_after, T::lanes), far, take_after);
  }
};

// Computes next = cost + min(from[d], from[d−1] + P1, from[d+1] + P1, limit) in place, where limit = min(from) + P2.
template <class T>
__device__ __forceinline__ void advance(StateOf<T>& state, const StateOf<T>& cost, u32 limit, u32 p1,
                                        const Neighbours<T>& neighbours) {
  u32 before = neighbours.before(state);
  const u32 last = neighbours.after(state);
#pragma unroll
  for (int j = 0; j < T::words; ++j) {
    const u32 here = state[j], after = j + 1 < T::words ? state[j + 1 < T::words ? j + 1 : 0] : last;
    state[j] = add(smallest(add(smaller(before, after), p1), here, limit), magnitude(cost[j]));
    before = here;
  }
}

template <class T>
__device__ __forceinline__ void advance(StateOf<T>& state, const StateOf<T>& cost, u32 limit, u32 p1, int lane) {
  advance<T>(state, cost, limit, p1, Neighbours<T>(lane));
}

// Computes all terms except the last: min(from[d], from[d−1] + P1, from[d+1] + P1).
template <class T>
__device__ __forceinline__ void best_from(StateOf<T>& best, const StateOf<T>& state, u32 p1,
                                          const Neighbours<T>& neighbours) {
  u32 before = neighbours.before(state);
  const u32 last = neighbours.after(state);
#pragma unroll
  for (int j = 0; j < T::words; ++j) {
    const u32 here = state[j], after = j + 1 < T::words ? state[j + 1 < T::words ? j + 1 : 0] : last;
    best[j] = smaller_sum(smaller(before, after), p1, here);
    before = here;
  }
}

// Replaces a and b by their minima over all lanes of a group, with each minimum in both halves.
template <class T>
__device__ __forceinline__ void reduce_two(u32& a, u32& b) {
  u32 m = smaller(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
#pragma unroll
  for (int step = T::lanes / 2; step; step /= 2) m = smaller(m, __shfl_xor_sync(everywhere, m, step));
  a = __byte_perm(m, m, 0x1010);
  b = __byte_perm(m, m, 0x3232);
}
template <class T, int N>
__device__ __forceinline__ void reduce(u32 (&low)[N]) {
#pragma unroll
  for (int i = 0; i + 1 < N; i += 2) reduce_two<T>(low[i], low[i + 1]);
  if constexpr (N % 2 == 1) {
    u32& last = low[N - 1];
    last = smaller(last, __byte_perm(last, last, 0x1032));
#pragma unroll
    for (int step = T::lanes / 2; step; step /= 2) last = smaller(last, __shfl_xor_sync(everywhere, last, step));
  }
}

// The same reduction for one or two states. The reduction is split in two parts, so that independent work can run
// between the parts.
template <class T, int N>
struct Minima {
  static_assert(N <= 2);
  u32 mine, others;

  __device__ __forceinline__ void set(const u32 (&low)[N]) {
    mine = others = N == 2 ? __byte_perm(low[0], low[N - 1], 0x5410) : low[0];
  }
  __device__ __forceinline__ void start(const u32 (&low)[N]) {
    if constexpr (N == 2)
      mine = smaller(__byte_perm(low[0], low[1], 0x5410), __byte_perm(low[0], low[1], 0x7632));
    else
      mine = smaller(low[0], __byte_perm(low[0], low[0], 0x1032));
#pragma unroll
    for (int step = T::lanes / 2; step > 1; step /= 2) mine = smaller(mine, __shfl_xor_sync(everywhere, mine, step));
    others = __shfl_xor_sync(everywhere, mine, 1);
  }
  __device__ __forceinline__ void get(u32 (&low)[N]) const {
    const u32 m = smaller(mine, others);
    low[0] = N == 2 ? __byte_perm(m, m, 0x1010) : m;
    if constexpr (N == 2) low[1] = __byte_perm(m, m, 0x3232);
  }
};

template <int kWords>
__device__ __forceinline__ void clear(u32 (&state)[kWords], u32& low) {
#pragma unroll
  for (int j = 0; j < kWords; ++j) state[j] = 0;
  low = 0;
}
template <int kWords>
__device__ __forceinline__ void normalise(u32 (&state)[kWords], u32& low, u32 p2) {
#pragma unroll
  for (int j = 0; j < kWords; ++j) state[j] = smaller_difference(state[j], low, p2);
  low = 0;
}

// ---- kept states, one byte per disparity ------------------------------------------------------------------------
struct Packed {
  u32 w[words / 2];
};

// Packs a state from word `first` of a lane on, or unpacks a state to there.
template <int kWords>
__device__ __forceinline__ Packed pack(const u32 (&state)[kWords], int first = 0) {
  Packed packed;
#pragma unroll
  for (int j = 0; j < words / 2; ++j) packed.w[j] = __byte_perm(state[first + 2 * j], state[first + 2 * j + 1], 0x6420);
  return packed;
}
template <int kWords>
__device__ __forceinline__ void unpack(u32 (&state)[kWords], const Packed& packed, u32 after = 0, int first = 0) {
#pragma unroll
  for (int j = 0; j < words / 2; ++j) {
    state[first + 2 * j] = permute(packed.w[j], after, 0xd1d0);
    state[first + 2 * j + 1] = permute(packed.w[j], after, 0xd3d2);
  }
}
// States are written once and read once. Streaming hints prevent them from evicting the features from the cache. A
// predicate avoids a branch, after which the lanes would have to reconverge.
__device__ __forceinline__ void store_if(bool wanted, u8* at, const Packed& p) {
  asm volatile(
      "{ .reg .pred wanted;\n\t"
      "setp.ne.u32 wanted, %0, 0;\n\t"
      "@wanted st.global.cs.v4.u32 [%1], {%2, %3, %4, %5}; }" ::"r"((u32)wanted),
      "l"(at), "r"(p.w[0]), "r"(p.w[1]), "r"(p.w[2]), "r"(p.w[3])
      : "memory");
}
template <int kWords>
__device__ __forceinline__ void store_state_if(bool wanted, u8* at, int lane, const u32 (&state)[kWords]) {
  constexpr int pieces = kWords / words;
#pragma unroll
  for (int i = 0; i < pieces; ++i) store_if(wanted, at + (lane * pieces + i) * 16, pack(state, i * words));
}
// The stored form of a lane's words.
template <class T>
struct PackedState {
  static constexpr int pieces = T::words / words;
  Packed piece[pieces];
};
template <class T>
__device__ __forceinline__ void unpack(StateOf<T>& state, const PackedState<T>& packed, u32 after = 0) {
#pragma unroll
  for (int i = 0; i < packed.pieces; ++i) unpack(state, packed.piece[i], after, i * words);
}
template <class T>
__device__ __forceinline__ PackedState<T> load_state(const u8* at, int lane) {
  PackedState<T> state;
#pragma unroll
  for (int i = 0; i < state.pieces; ++i) {
    const uint4 v = __ldcs(reinterpret_cast<const uint4*>(at) + lane * state.pieces + i);
    state.piece[i] = {v.x, v.y, v.z, v.w};
  }
  return state;
}
// Loads a state; the compiler does not move this load away from the other loads of its batch.
template <class T>
__device__ __forceinline__ PackedState<T> load_state_early(const u8* at, int lane) {
  PackedState<T> state;
#pragma unroll
  for (int i = 0; i < state.pieces; ++i) {
    u32(&w)[words / 2] = state.piece[i].w;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(at + (lane * state.pieces + i) * 16));
  }
  return state;
}

// Return the positions of stored states. Vertical and diagonal directions are numbered up · 3 + dx + 1. If all are
// vertical, the number is `up`.
template <class T, class V>
__device__ __forceinline__ u8* row_state(const Problem& p, bool up, int dx, int band, int x) {
  const int direction = V::diagonals ? up * 3 + dx + 1 : up;
  return p.rows + (i64)((direction * p.bands + band) * p.width + x) * T::range;
}
// Returns the place of a state in Problem::entering or Problem::leaving.
template <class T, class V, class Bytes>
__device__ __forceinline__ Bytes* stripe_state(const Problem& p, Bytes* states, int dx, int x) {
  return states + (i64)((V::diagonals ? dx + 1 : 0) * p.width + x) * T::range;
}
template <class T>
__device__ __forceinline__ u8* side_state(const Problem& p, bool up, int dx, int strip, int y) {
  return p.sides + (i64)(((up * 2 + (dx > 0)) * p.strips + strip) * p.height + y) * T::range;
}
__device__ __forceinline__ bool is_kept(const Problem& p, int strip) {
  return (u32)(strip - p.kept_first) < (u32)p.kept_strips;
}
template <class T>
__device__ __forceinline__ u8* end_state(const Problem& p, bool leftward, int strip, int y) {
  const int strips = p.strips - p.kept_strips, place = strip < p.kept_first ? strip : strip - p.kept_strips;
  return p.ends + (i64)((leftward * strips + place) * p.height + y) * T::range;
}
// Shared memory of a block of the first pass whose lines share features, or which follows rows.
template <int kRange>
constexpr int border_bytes = kRange == 512 ? 45568 : kRange == 256 ? 31744 : kRange == 128 ? 22528 : 27136;
template <int kRange>
__device__ __forceinline__ u8* border_memory() {
  __shared__ alignas(128) u8 memory[border_bytes<kRange>];
  return memory;
}

}  // namespace stereopsis::sgm_wta
