// Belief propagation with 8-bit messages: belief_propagation.hpp. A thread holds 16 disparities of a pixel, in pairs of
// disparities at a distance of 8. The neighbours of a pair's disparities then form another pair. Messages are stored by
// the checkerboard colour of the receiving pixel. All messages to one pixel are contiguous. Among 16 disparities, byte
// 4 j + b belongs to disparity j + 4 b.
#include "device/gpu/vocabulary.h"
#include "stages/belief_propagation/belief_propagation_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::belief_propagation;

namespace {

constexpr int threads = gpu::pick(tunings, gpu::compiled_capability).threads;
constexpr int pairs = cells / 2;
constexpr uint everywhere = ~0u;

// 16-bit values in pairs: disparities j and j + 8 of 16.
struct Pairs {
  uint of[pairs];
};

__device__ __forceinline__ uint both(uint value) { return value * 0x10001; }
__device__ __forceinline__ uint word(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

__device__ __forceinline__ Pairs unpacked(const uint4& bytes) {
  Pairs p;
#pragma unroll
  for (int j = 0; j < pairs / 2; ++j) {
    p.of[j] = word(bytes, j) & 0x00ff00ff;
    p.of[j + pairs / 2] = __byte_perm(word(bytes, j), 0, 0x4341);
  }
  return p;
}
__device__ __forceinline__ uint4 packed(const Pairs& p) {
  uint w[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) w[j] = __byte_perm(p.of[j], p.of[j + 4], 0x6240);
  return {w[0], w[1], w[2], w[3]};
}

// The part of a pixel that a thread processes.
struct Place {
  __device__ __forceinline__ Place(const CudaProblem& p, int turn)
      : item(blockIdx.x * threads + threadIdx.x), chunk(item & (p.lanes - 1)), y(blockIdx.y) {
    column = item >> p.lanes_log2;
    x = 2 * column + ((y + turn) & 1);
    inside = x < p.level.width && chunk < p.chunks;
  }
  int item, chunk, y, column, x;
  bool inside;
};

__device__ __forceinline__ long columns_of(int width) { return (width + 1) / 2; }
// Returns the index of a pixel in the order of the volumes.
__device__ __forceinline__ long index_of(const CudaLevel& level, int x, int y) {
  return ((long)((x + y) & 1) * level.height + y) * columns_of(level.width) + x / 2;
}

__device__ __forceinline__ Pairs load_costs(const uchar* costs, long at) {
  return unpacked(*reinterpret_cast<const uint4*>(costs + at * cells));
}
__device__ __forceinline__ Pairs load_costs(const ushort* costs, long at) {
  const uint4* from = reinterpret_cast<const uint4*>(costs + at * cells);
  const uint4 a = from[0], b = from[1];
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}

// Returns masks that are 0xffff for absent disparities.
__device__ __forceinline__ Pairs beyond(const CudaProblem& p, int chunk) {
  Pairs mask;
#pragma unroll
  for (int j = 0; j < pairs; ++j)
    mask.of[j] =
        (chunk * cells + j < p.disparities ? 0 : 0xffff) | (chunk * cells + j + pairs < p.disparities ? 0 : 0xffff0000);
  return mask;
}

// Computes the minimum of each of four messages over the threads of a pixel. The results are two pairs, for the first
// two and for the other two messages.
__device__ __forceinline__ void lowest_of(const Pairs (&h)[4], int lanes, uint (&lowest)[2]) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    uint least[2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      least[n] = h[i + n].of[0];
#pragma unroll
      for (int j = 1; j < pairs; ++j) least[n] = __vminu2(least[n], h[i + n].of[j]);
    }
    lowest[i / 2] = __vminu2(__byte_perm(least[0], least[1], 0x5410), __byte_perm(least[0], least[1], 0x7632));
  }
  for (int step = lanes / 2; step > 0; step /= 2) {
    lowest[0] = __vminu2(lowest[0], __shfl_xor_sync(everywhere, lowest[0], step));
    lowest[1] = __vminu2(lowest[1], __shfl_xor_sync(everywhere, lowest[1], step));
  }
}

// Finds the disparities before the first pair, for each of four messages: the last disparity of the previous thread,
// and the last disparity of the lower half.
__device__ __forceinline__ void before(const Pairs (&g)[4], int chunk, const CudaProblem& p, uint (&pair)[4]) {
  const uint last =
      __byte_perm(__byte_perm(g[0].of[7], g[1].of[7], 0x0062), __byte_perm(g[2].of[7], g[3].of[7], 0x0062), 0x5410);
  uint other = __shfl_up_sync(everywhere, last, 1, p.lanes);
  if (chunk == 0) other = p.truncation * 0x01010101;
#pragma unroll
  for (int i = 0; i < 4; ++i) pair[i] = __byte_perm(other, g[i].of[7], 0x5450 + i);
}
// Finds the disparities after the last pair.
__device__ __forceinline__ void behind(const Pairs (&g)[4], int chunk, const CudaProblem& p, uint (&pair)[4]) {
  const uint first =
      __byte_perm(__byte_perm(g[0].of[0], g[1].of[0], 0x0040), __byte_perm(g[2].of[0], g[3].of[0], 0x0040), 0x5410);
  uint other = __shfl_down_sync(everywhere, first, 1, p.lanes);
  if (chunk == p.lanes - 1) other = p.truncation * 0x01010101;
#pragma unroll
  for (int i = 0; i < 4; ++i) pair[i] = __byte_perm(other, g[i].of[0], 0x5056 + 0x100 * i);
}

// Computes the lower envelope for slopes at which only adjacent disparities cost less than the truncation.
__device__ __forceinline__ void envelope_of_neighbours(Pairs (&g)[4], int chunk, const CudaProblem& p) {
  const uint slope = both(p.slope);
  uint first[4], last[4];
  before(g, chunk, p, first);
  behind(g, chunk, p, last);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint previous = first[i];
#pragma unroll
    for (int j = 0; j < pairs; ++j) {
      const uint here = g[i].of[j], next = j + 1 < pairs ? g[i].of[j + 1] : last[i];
      g[i].of[j] = __viaddmin_u16x2(__vminu2(previous, next), slope, here);
      previous = here;
    }
  }
}

// Computes the lower envelope for any slope, with increasing disparities first, then with decreasing ones. In each
// round, the results of a thread's pairs move on by half a thread.
__device__ __forceinline__ void envelope(Pairs (&g)[4], int chunk, const CudaProblem& p) {
  const uint slope = both(p.slope);
  uint edge[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 1; j < pairs; ++j) g[i].of[j] = __viaddmin_u16x2(g[i].of[j - 1], slope, g[i].of[j]);
#pragma unroll 1
  for (int round = 0; round < p.rounds; ++round) {
    before(g, chunk, p, edge);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < pairs; ++j) g[i].of[j] = edge[i] = __viaddmin_u16x2(edge[i], slope, g[i].of[j]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = pairs - 2; j >= 0; --j) g[i].of[j] = __viaddmin_u16x2(g[i].of[j + 1], slope, g[i].of[j]);
#pragma unroll 1
  for (int round = 0; round < p.rounds; ++round) {
    behind(g, chunk, p, edge);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = pairs - 1; j >= 0; --j) g[i].of[j] = edge[i] = __viaddmin_u16x2(edge[i], slope, g[i].of[j]);
  }
}

// Loads the messages to a pixel from its level or, if there are none yet, from the coarser level. No messages come from
// outside the image.
__device__ __forceinline__ void load_messages(Pairs (&m)[4], const uchar* scratch, const CudaLevel& level, int x, int y,
                                              int chunk, int chunks, bool inside) {
  const uint4* from =
      reinterpret_cast<const uint4*>(scratch + level.messages) + index_of(level, x, y) * 4 * chunks + chunk;
  const bool there[] = {x > 0, x<level.width - 1, y> 0, y < level.height - 1};
  uint4 bytes[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) bytes[i] = inside && there[i] ? from[i * chunks] : uint4{};
#pragma unroll
  for (int i = 0; i < 4; ++i) m[i] = unpacked(bytes[i]);
}

// Stores the sums of 16 disparities in the caller's order.
__device__ __forceinline__ void store_sums(ushort* to, const Pairs& s, int count) {
  uint w[pairs];
#pragma unroll
  for (int n = 0; n < pairs; ++n)
    w[n] = n < 4 ? __byte_perm(s.of[2 * n], s.of[2 * n + 1], 0x5410)
                 : __byte_perm(s.of[2 * n - 8], s.of[2 * n - 7], 0x7632);
  if (count >= cells && (ulong)to % 16 == 0) {
    reinterpret_cast<uint4*>(to)[0] = {w[0], w[1], w[2], w[3]};
    reinterpret_cast<uint4*>(to)[1] = {w[4], w[5], w[6], w[7]};
  } else if ((ulong)to % 8 == 0 && count % 4 == 0) {
#pragma unroll
    for (int n = 0; n < 4; ++n)
      if (4 * n < count) reinterpret_cast<uint2*>(to)[n] = {w[2 * n], w[2 * n + 1]};
  } else {
#pragma unroll
    for (int k = 0; k < cells; ++k)
      if (k < count) to[k] = (ushort)(w[k / 2] >> k % 2 * 16);
  }
}

__device__ __forceinline__ void add(Pairs& sum, const Pairs& m) {
#pragma unroll
  for (int j = 0; j < pairs; ++j) sum.of[j] += m.of[j];
}
__device__ __forceinline__ Pairs sum_of(Pairs costs, const Pairs (&m)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) add(costs, m[i]);
  return costs;
}

// Passes messages from the pixels of one colour. If `sums` is not null, also computes the sums of these pixels.
template <class Cost, bool kNear>
__device__ __forceinline__ void pass_messages(uchar* scratch, ushort* sums, const CudaProblem& p, int turn) {
  const Place at(p, turn);
  const CudaLevel& level = p.level;
  const long index = index_of(level, at.x, at.y);
  Pairs m[4];
  if (turn > 0)
    load_messages(m, scratch, level, at.x, at.y, at.chunk, p.chunks, at.inside);
  else if (p.coarse.width > 0)
    load_messages(m, scratch, p.coarse, at.x / 2, at.y / 2, at.chunk, p.chunks, at.inside);
  else
#pragma unroll
    for (int i = 0; i < 4; ++i) m[i] = {};
  Pairs sum{};
  if (at.inside) sum = load_costs(reinterpret_cast<const Cost*>(scratch + level.costs), index * p.chunks + at.chunk);
  sum = sum_of(sum, m);
  if (sums != nullptr && at.inside)
    store_sums(sums + ((long)at.y * level.width + at.x) * p.disparities + at.chunk * cells, sum,
               p.disparities - at.chunk * cells);
  const bool padded = p.lanes * cells != p.disparities;
  if (padded) {
    const Pairs mask = beyond(p, at.chunk);
#pragma unroll
    for (int j = 0; j < pairs; ++j) sum.of[j] |= mask.of[j];
  }

  // The message to a neighbour excludes the message that came from this neighbour.
  Pairs g[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < pairs; ++j) g[i].of[j] = sum.of[j] - m[i ^ 1].of[j];
  uint lowest[2];
  lowest_of(g, p.lanes, lowest);
  const uint most = both(p.truncation);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint least = __vneg2(__byte_perm(lowest[i / 2], 0, i % 2 == 0 ? 0x1010 : 0x3232));
#pragma unroll
    for (int j = 0; j < pairs; ++j) g[i].of[j] = __viaddmin_u16x2(g[i].of[j], least, most);
  }
  if constexpr (kNear)
    envelope_of_neighbours(g, at.chunk, p);
  else
    envelope(g, at.chunk, p);
  if (!at.inside) return;

  uint4* const messages = reinterpret_cast<uint4*>(scratch + level.messages) + at.chunk;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int u = at.x + (i == 0) - (i == 1), v = at.y + (i == 2) - (i == 3);
    if (u < 0 || v < 0 || u >= level.width || v >= level.height) continue;
    uint4 bytes = packed(g[i]);
    if (padded) {
      const uint4 mask = packed(beyond(p, at.chunk));
      bytes = {bytes.x & ~mask.x, bytes.y & ~mask.y, bytes.z & ~mask.z, bytes.w & ~mask.w};
    }
    messages[(4 * index_of(level, u, v) + i) * p.chunks] = bytes;
  }
}

// Loads 16 costs of the caller, and reorders them like messages.
__device__ __forceinline__ uint4 ordered(const uchar* from, int count) {
  uint w[4] = {};
  if (count >= cells && (ulong)from % 16 == 0) {
    const uint4 v = *reinterpret_cast<const uint4*>(from);
    w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
  } else if (count % 4 == 0 && (ulong)from % 4 == 0) {
#pragma unroll
    for (int n = 0; n < 4; ++n)
      if (4 * n < count) w[n] = reinterpret_cast<const uint*>(from)[n];
  } else {
#pragma unroll
    for (int k = 0; k < cells; ++k)
      if (k < count) w[k / 4] |= (uint)from[k] << k % 4 * 8;
  }
  const uint a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[0], w[1], 0x7362),
             c = __byte_perm(w[2], w[3], 0x5140), d = __byte_perm(w[2], w[3], 0x7362);
  return {__byte_perm(a, c, 0x5410), __byte_perm(a, c, 0x7632), __byte_perm(b, d, 0x5410), __byte_perm(b, d, 0x7632)};
}

__device__ __forceinline__ void store_costs(uchar* costs, long at, const Pairs& p) {
  uint4* const to = reinterpret_cast<uint4*>(costs) + 2 * at;
  to[0] = {p.of[0], p.of[1], p.of[2], p.of[3]};
  to[1] = {p.of[4], p.of[5], p.of[6], p.of[7]};
}

}  // namespace

// Reorders the caller's costs. Also computes the costs of the next coarser level, if there is one. A thread holds 16
// disparities of 2 × 2 pixels.
extern "C" __global__ void __launch_bounds__(threads)
    order_u8(ARRAY(const uchar, from), ARRAY(uchar, scratch), const CudaProblem p) {
  const int item = blockIdx.x * threads + threadIdx.x, chunk = item % p.chunks, x = item / p.chunks, y = blockIdx.y;
  const int width = p.level.width, height = p.level.height, count = p.disparities - chunk * cells;
  if (2 * x >= width) return;
  uchar* const to = ELEMENTS(scratch);
  Pairs sum{};
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const int u = 2 * x + n % 2, v = 2 * y + n / 2;
    if (u >= width || v >= height) continue;
    const uint4 bytes = ordered(ELEMENTS(from) + ((long)v * width + u) * p.disparities + chunk * cells, count);
    reinterpret_cast<uint4*>(to + p.level.costs)[index_of(p.level, u, v) * p.chunks + chunk] = bytes;
    add(sum, unpacked(bytes));
  }
  if (p.coarse.width > 0) store_costs(to + p.coarse.costs, index_of(p.coarse, x, y) * p.chunks + chunk, sum);
}

// Computes the costs of a coarser level.
extern "C" __global__ void __launch_bounds__(threads) halve_u16(ARRAY(uchar, scratch), const CudaProblem p) {
  const int item = blockIdx.x * threads + threadIdx.x, chunk = item % p.chunks, x = item / p.chunks, y = blockIdx.y;
  if (x >= p.coarse.width) return;
  uchar* const to = ELEMENTS(scratch);
  Pairs sum{};
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const int u = 2 * x + n % 2, v = 2 * y + n / 2;
    if (u < p.level.width && v < p.level.height)
      add(sum,
          load_costs(reinterpret_cast<const ushort*>(to + p.level.costs), index_of(p.level, u, v) * p.chunks + chunk));
  }
  store_costs(to + p.coarse.costs, index_of(p.coarse, x, y) * p.chunks + chunk, sum);
}

#define STEREOPSIS_PASS_MESSAGES(name, Cost, is_near)                                                     \
  extern "C" __global__ void __launch_bounds__(threads)                                                   \
      pass_messages_##name(ARRAY(uchar, scratch), ARRAY(ushort, sums), const CudaProblem p, int turn) {   \
    pass_messages<Cost, is_near>(ELEMENTS(scratch), sums == nullptr ? nullptr : ELEMENTS(sums), p, turn); \
  }
STEREOPSIS_PASS_MESSAGES(near_u8, uchar, true)
STEREOPSIS_PASS_MESSAGES(near_u16, ushort, true)
STEREOPSIS_PASS_MESSAGES(far_u8, uchar, false)
STEREOPSIS_PASS_MESSAGES(far_u16, ushort, false)

// Computes the sums of the pixels that sent their messages first.
extern "C" __global__ void __launch_bounds__(threads)
    add_u8(ARRAY(uchar, scratch), ARRAY(ushort, sums), const CudaProblem p) {
  const Place at(p, 0);
  if (!at.inside) return;
  Pairs m[4];
  load_messages(m, ELEMENTS(scratch), p.level, at.x, at.y, at.chunk, p.chunks, true);
  const Pairs costs =
      load_costs(ELEMENTS(scratch) + p.level.costs, index_of(p.level, at.x, at.y) * p.chunks + at.chunk);
  store_sums(ELEMENTS(sums) + ((long)at.y * p.level.width + at.x) * p.disparities + at.chunk * cells, sum_of(costs, m),
             p.disparities - at.chunk * cells);
}
