// Adaptive support weights over the full window: asw.hpp. The weights are computed once for a band of rows. A thread
// then computes the sums for 8 disparities of 4 pixels. One product multiplies a weight by two adjacent weights of the
// right view. One instruction multiplies the two products of a cell, which belong to vertically adjacent taps, by their
// costs, and adds the results. The sums of the weights are computed as a matrix product.
#include "device/gpu/vocabulary.h"
#include "stages/asw/asw_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::asw;

#define INSTANCE cuda
#include "stages/support_weight/support_weight.cl.h"
#undef INSTANCE

namespace {

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int threads = tuning.threads, blocks = tuning.blocks, weights_a_thread = tuning.weights_a_thread;

extern __shared__ uint4 shared_memory[];

// Returns ⌊√n⌋ of an integer below 2²², plus the bits of 1.5 · 2²³.
constexpr uint root_bias = 0x4b400000;
__device__ __forceinline__ uint biased_root(float n) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(n));
  const float biased = root + 12582912.0f, nearest = biased - 12582912.0f;
  return __float_as_uint(biased) - (nearest * nearest > n ? 1 : 0);
}

// Returns the position of column i in shared memory, such that lanes 4 columns apart use different banks.
__device__ __forceinline__ int spread(int i) { return i + (i >> 5); }

}  // namespace

// Computes the weights of both views. A block processes a run of columns of a row, first for the left view, then for
// the right view.
extern "C" __global__ void __launch_bounds__(threads)
    weigh_all(IMAGE(const uint, lab_left), IMAGE(const uint, lab_right), ARRAY(uchar, weights), Weights table,
              const CudaProblem p) {
  constexpr int columns = threads * weights_a_thread, room = columns + 64 + (columns + 64) / 32;
  __shared__ uchar weight_of[256];
  __shared__ int distance[64];
  __shared__ float lab[3 * room];  // colours of one row
  const int left_blocks = (p.left_pitch + columns - 1) / columns;
  const bool is_right = blockIdx.x >= left_blocks;
  const int first = (is_right ? blockIdx.x - left_blocks : blockIdx.x) * columns,
            pitch = is_right ? p.right_pitch : p.left_pitch;
  const int before = is_right ? p.right_before : 0, y = p.first_row + blockIdx.y;
  const int taps_x = 2 * p.radius_x + 1, taps = taps_x * (2 * p.radius_y + 1), span = columns + 2 * p.radius_x;
  const auto colour = [&](int x, int row) {
    x = clamp(x, 0, p.width - 1), row = clamp(row, 0, p.height - 1);
    return is_right ? PIXEL(lab_right, x, row) : PIXEL(lab_left, x, row);
  };
  for (int i = threadIdx.x; i < 256; i += threads) weight_of[i] = (uchar)in_8_bits(table.of[i]);
  uchar* to = ELEMENTS(weights) + (is_right ? (long)p.rows * taps * p.left_pitch : 0) +
              (long)blockIdx.y * taps * pitch + first + weights_a_thread * threadIdx.x;
  const bool inside = first + weights_a_thread * (int)threadIdx.x < pitch;
  // Positions of the pixels p in shared memory. The first column is the lowest column of a p in the block minus the
  // radius.
  const int lowest = clamp(first - before, 0, p.width - 1);
  int place[weights_a_thread];
  float l[weights_a_thread], a[weights_a_thread], b[weights_a_thread];
#pragma unroll
  for (int n = 0; n < weights_a_thread; ++n) {
    const int x = clamp(first + weights_a_thread * (int)threadIdx.x + n - before, 0, p.width - 1);
    const uint v = colour(x, y);
    place[n] = x - lowest;
    l[n] = v & 1023, a[n] = v >> 10 & 1023, b[n] = v >> 20 & 1023;
  }
  const uint bias = 32768 - (uint)p.colour_scale * root_bias;
  for (int dy = -p.radius_y; dy <= p.radius_y; ++dy) {
    __syncthreads();
    for (int i = threadIdx.x; i < span; i += threads) {
      const uint v = colour(lowest - p.radius_x + i, y + dy);
      float* const at = lab + spread(i);
      at[0] = v & 1023, at[room] = v >> 10 & 1023, at[2 * room] = v >> 20 & 1023;
    }
    for (int i = threadIdx.x; i < taps_x; i += threads)
      distance[i] = min(1 << 24, p.distance_scale * root(16 * (square(i - p.radius_x) + square(dy))));
    __syncthreads();
    if (!inside) continue;
    for (int tap = 0; tap < taps_x; ++tap, to += pitch) {
      uint word = 0;
#pragma unroll
      for (int n = 0; n < weights_a_thread; ++n) {
        const float* const q = lab + spread(place[n] + tap);
        const float dl = q[0] - l[n], da = q[room] - a[n], db = q[2 * room] - b[n];
        const uint root = biased_root(dl * dl + da * da + db * db);
        const uint exponent = min(255, (uint)p.colour_scale * root + (distance[tap] + bias) >> 16);
        word |= (uint)weight_of[exponent] << 8 * n;
      }
      *reinterpret_cast<uint*>(to) = word;
    }
  }
}

namespace {

// The lanes of a warp form `groups` columns of threads.
template <int kGroups>
struct Tile {
  static constexpr int disparities = 32 / kGroups * thread_disparities;
  static constexpr int columns = threads / 32 * kGroups * thread_columns;
  // Bytes per column, in which the costs of two rows alternate.
  static constexpr int cost_pitch = asw::cost_pitch(disparities);
  static_assert(columns + disparities == right_columns);
};

struct Window {
  const uchar *left, *right;  // weights of the block's row, from its first column on, tap by tap
  const uchar* costs;
  int taps_x, taps_y, taps;
  int x, y, k;  // position of the block
};

// Two rows of the window in shared memory, in the layout of global memory. The weights of the right view are also
// stored in 16 bits.
template <int kGroups>
struct Rows {
  using T = Tile<kGroups>;
  ushort* wide_right;
  uchar *right, *left, *costs;
  int cost_bytes;  // bytes per row

  __device__ Rows(const Window& w, uchar* memory)
      : wide_right(reinterpret_cast<ushort*>(memory)),
        right(memory + 2 * w.taps_x * right_columns * 2),
        left(right + 2 * w.taps_x * right_columns),
        costs(left + 2 * w.taps_x * T::columns),
        cost_bytes((T::columns + w.taps_x - 1) * T::cost_pitch) {}
};

// Copies bytes asynchronously, without using a register. Bytes after the first `count` are 0.
template <int kBytes>
__device__ __forceinline__ void fetch(uchar* to, const uchar* from, int count = kBytes) {
  const uint place = (uint)__cvta_generic_to_shared(to);
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(count));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from), "r"(count));
}
__device__ __forceinline__ void wait_for_fetched() {
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}

// Copies a row of costs, kBytes at a time. Some costs straddle words if kBytes is 1.
template <int kGroups, int kBytes>
__device__ __forceinline__ void fetch_costs(const CudaProblem& p, const Window& w, int y, uchar* to) {
  using T = Tile<kGroups>;
  constexpr int at_once = kBytes == 16 ? 16 : 4, pieces = T::disparities / at_once;
  const int spans = T::columns + w.taps_x - 1;
  const uchar* row = w.costs + (long)clamp(y, 0, p.height - 1) * p.width * p.disparities + w.k;
#pragma unroll 1
  for (int i = threadIdx.x; i < spans * pieces; i += threads) {
    const int c = i / pieces, k = i % pieces * at_once, count = clamp(p.disparities - w.k - k, 0, at_once);
    const uchar* from = row + (long)clamp(w.x + c - w.taps_x / 2, 0, p.width - 1) * p.disparities + (count > 0 ? k : 0);
    if constexpr (kBytes > 1) {
      fetch<kBytes>(to + c * T::cost_pitch + k, from, count);
    } else {
      uint word = 0;
      for (int n = 0; n < count; ++n) word |= (uint)from[n] << 8 * n;
      *reinterpret_cast<uint*>(to + c * T::cost_pitch + k) = word;
    }
  }
}

// Copies the weights of a view for two rows of the window, which alternate. Weights below the window are set to 0.
template <int kColumns>
__device__ __forceinline__ void fetch_weights(const Window& w, int pair, const uchar* from, int pitch, uchar* to) {
  constexpr int pieces = kColumns / 16;
  for (int i = threadIdx.x; i < 2 * w.taps_x * pieces; i += threads) {
    const int slot = i / pieces, dy = 2 * pair + slot % 2, tap = dy * w.taps_x + slot / 2;
    const bool inside = dy < w.taps_y;
    fetch<16>(to + 16 * i, from + (inside ? (long)tap * pitch + i % pieces * 16 : 0), inside ? 16 : 0);
  }
}

template <int kGroups>
__device__ __forceinline__ void fetch_rows(const CudaProblem& p, const Window& w, const Rows<kGroups>& rows, int pair) {
  fetch_weights<Tile<kGroups>::columns>(w, pair, w.left, p.left_pitch, rows.left);
  fetch_weights<right_columns>(w, pair, w.right, p.right_pitch, rows.right);
  for (int r = 0; r < 2; ++r) {
    const int y = w.y + 2 * pair - p.radius_y + r;
    uchar* to = rows.costs + r * rows.cost_bytes;
    if (((ulong)w.costs | p.disparities) % 16 == 0)
      fetch_costs<kGroups, 16>(p, w, y, to);
    else if (((ulong)w.costs | p.disparities) % 4 == 0)
      fetch_costs<kGroups, 4>(p, w, y, to);
    else
      fetch_costs<kGroups, 1>(p, w, y, to);
  }
}

template <int kGroups>
__device__ __forceinline__ void widen(const Window& w, const Rows<kGroups>& rows) {
  for (int i = threadIdx.x; i < 2 * w.taps_x * right_columns / 8; i += threads) {
    const uint2 v = reinterpret_cast<const uint2*>(rows.right)[i];
    reinterpret_cast<uint4*>(rows.wide_right)[i] = {__byte_perm(v.x, 0, 0x4140), __byte_perm(v.x, 0, 0x4342),
                                                    __byte_perm(v.y, 0, 0x4140), __byte_perm(v.y, 0, 0x4342)};
  }
}

struct Sums {
  uint of[thread_columns][thread_disparities];
};

// Adds the sums over two rows of the window. The pointers are those of the calling thread.
template <int kGroups>
__device__ __forceinline__ void add_pair(Sums& sums, int taps_x, const uchar* left, const ushort* right,
                                         const uchar* costs, int cost_row) {
  using T = Tile<kGroups>;
  const auto load = [&](const uchar* from) {  // values of both rows, which alternate
    const uint2 a = *reinterpret_cast<const uint2*>(from), b = *reinterpret_cast<const uint2*>(from + cost_row);
    return uint4{__byte_perm(a.x, b.x, 0x5140), __byte_perm(a.x, b.x, 0x7362), __byte_perm(a.y, b.y, 0x5140),
                 __byte_perm(a.y, b.y, 0x7362)};
  };
  uint4 column[thread_columns];
#pragma unroll
  for (int i = 0; i < thread_columns - 1; ++i) column[i] = load(costs + i * T::cost_pitch);
  costs += (thread_columns - 1) * T::cost_pitch;
#pragma unroll 1
  for (int tap = 0; tap < taps_x; tap += thread_columns) {
#pragma unroll
    for (int turn = 0; turn < thread_columns; ++turn) {
      if (tap + turn >= taps_x) break;
      column[(turn + thread_columns - 1) % thread_columns] = load(costs);
      uint weight[2][thread_columns], pair[2][10];  // products of the weights of the right view for columns n and n + 1
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const uint v = *reinterpret_cast<const uint*>(left + r * T::columns);
        weight[r][0] = v & 255, weight[r][1] = v >> 8 & 255, weight[r][2] = v >> 16 & 255, weight[r][3] = v >> 24;
        const uint2* from = reinterpret_cast<const uint2*>(right + r * right_columns);
        const uint2 a = from[0], b = from[1], c = from[2];
        const uint word[] = {a.x, a.y, b.x, b.y, c.x, c.y};
#pragma unroll
        for (int n = 0; n < 10; ++n)
          pair[r][n] = n % 2 == 0 ? word[n / 2] : __byte_perm(word[n / 2], word[n / 2 + 1], 0x5432);
      }
#pragma unroll
      for (int i = 0; i < thread_columns; ++i) {
        const uint4& c = column[(turn + i) % thread_columns];
        const uint cost[] = {c.x, c.y, c.z, c.w};
#pragma unroll
        for (int j = 0; j < thread_disparities; j += 2) {
          const int n = 6 + i - j;  // columns of the right view for disparities j + 1 and j
          const uint a = weight[0][i] * pair[0][n], b = weight[1][i] * pair[1][n];
          sums.of[i][j + 1] = __dp2a_hi(__byte_perm(a, b, 0x5410), cost[j / 2], sums.of[i][j + 1]);
          sums.of[i][j] = __dp2a_lo(__byte_perm(a, b, 0x7632), cost[j / 2], sums.of[i][j]);
        }
      }
      left += 2 * T::columns;
      right += 2 * right_columns;
      costs += T::cost_pitch;
    }
  }
}

// A 32-bit sum can hold 258 products of three bytes. The part above 2²⁰ is moved to a second sum.
constexpr int most_taps = 258, kept_bits = 20;
struct UpperSums {
  uint of[thread_columns][thread_disparities / 2];
};
__device__ __forceinline__ void carry(Sums& sums, UpperSums& upper) {
#pragma unroll
  for (int i = 0; i < thread_columns; ++i)
#pragma unroll
    for (int j = 0; j < thread_disparities; ++j) {
      upper.of[i][j / 2] += sums.of[i][j] >> kept_bits << j % 2 * 16;
      sums.of[i][j] &= (1 << kept_bits) - 1;
    }
}

// Sums the products of the weights of both views, for all pixels and disparities of the tile; `totals` is ordered by
// column.
template <int kGroups>
__device__ __forceinline__ void add_weights(const CudaProblem& p, const Window& w, uchar* bytes, uint* totals) {
  using T = Tile<kGroups>;
  constexpr int step = taps_at_once, pitch = tap_pitch;  // pitch of a column, for both views
  constexpr int tiles = (16 + T::disparities) / 8 * (T::columns / 16) / (threads / 32);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int rows = warp * (T::columns / 16) / (threads / 32),
            first_tile = 2 * rows + (kGroups == 2 ? warp % 2 * tiles : 0);
  int sum[tiles][4] = {};
  for (int tap = 0; tap < w.taps; tap += step) {
    __syncthreads();
    for (int i = threadIdx.x; i < (T::columns + right_columns) / 4 * (step / 4); i += threads) {
      const int n = i % ((T::columns + right_columns) / 4), q = i / ((T::columns + right_columns) / 4);
      const bool is_right = n >= T::columns / 4;
      const long row = is_right ? p.right_pitch : p.left_pitch;
      const uchar* from = is_right ? w.right + 4 * n - T::columns : w.left + 4 * n;
      uint v[4];
#pragma unroll
      for (int t = 0; t < 4; ++t)
        v[t] = tap + 4 * q + t < w.taps ? *reinterpret_cast<const uint*>(from + (tap + 4 * q + t) * row) : 0;
      const uint a = __byte_perm(v[0], v[1], 0x5140), b = __byte_perm(v[0], v[1], 0x7362),
                 c = __byte_perm(v[2], v[3], 0x5140), d = __byte_perm(v[2], v[3], 0x7362);
      uint* to = reinterpret_cast<uint*>(bytes + 4 * n * pitch + 4 * q);
      to[0] = __byte_perm(a, c, 0x5410);
      to[pitch / 4] = __byte_perm(a, c, 0x7632);
      to[2 * pitch / 4] = __byte_perm(b, d, 0x5410);
      to[3 * pitch / 4] = __byte_perm(b, d, 0x7632);
    }
    __syncthreads();
    const uint* a = reinterpret_cast<const uint*>(bytes + (16 * rows + lane / 4) * pitch) + lane % 4;
    const uint a0 = a[0], a1 = a[8 * pitch / 4], a2 = a[4], a3 = a[8 * pitch / 4 + 4];
#pragma unroll
    for (int n = 0; n < tiles; ++n) {
      const uint* b =
          reinterpret_cast<const uint*>(bytes + (T::columns + 8 * (first_tile + n) + lane / 4) * pitch) + lane % 4;
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
          "%3};"
          : "+r"(sum[n][0]), "+r"(sum[n][1]), "+r"(sum[n][2]), "+r"(sum[n][3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b[0]), "r"(b[4]));
    }
  }
#pragma unroll
  for (int n = 0; n < tiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int x = 16 * rows + lane / 4 + i / 2 * 8,
                k = x + T::disparities - 1 - (8 * (first_tile + n) + lane % 4 * 2 + i % 2);
      if (k >= 0 && k < T::disparities) totals[x * T::disparities + k] = sum[n][i];
    }
  __syncthreads();
}

// Returns ⌊(128 sum + ⌊total / 2⌋) / total⌋. The estimate is off by at most one, so that 32 bits are sufficient for the
// remainder.
__device__ __forceinline__ uint mean(uint sum, uint upper, uint total) {
  const float dividend = ((float)upper * (1 << kept_bits) + (float)sum) * 128.0f + (float)(total / 2);
  const uint estimate = __float2uint_rd(__fdividef(dividend, (float)total));
  const int rest = (int)((upper << (kept_bits + 7)) + (sum << 7) + total / 2 - estimate * total);
  return estimate + (rest >= (int)total) - (rest < 0);
}

__device__ __forceinline__ void store(ushort* to, const uint (&of)[thread_disparities], int count) {
  if (count >= thread_disparities && (ulong)to % 16 == 0) {
    *reinterpret_cast<uint4*>(to) = {of[0] | of[1] << 16, of[2] | of[3] << 16, of[4] | of[5] << 16,
                                     of[6] | of[7] << 16};
  } else {
#pragma unroll
    for (int j = 0; j < thread_disparities; ++j)
      if (j < count) to[j] = (ushort)of[j];
  }
}

template <int kGroups>
__device__ __forceinline__ void aggregate(const uchar* weights, const uchar* costs, ushort* aggregated,
                                          const CudaProblem& p) {
  using T = Tile<kGroups>;
  const int d_tiles = (p.disparities + T::disparities - 1) / T::disparities;
  Window w;
  w.costs = costs;
  w.taps_x = 2 * p.radius_x + 1;
  w.taps_y = 2 * p.radius_y + 1;
  w.taps = w.taps_x * w.taps_y;
  w.x = blockIdx.x / d_tiles * T::columns;
  w.y = p.first_row + blockIdx.y;
  w.k = blockIdx.x % d_tiles * T::disparities;
  w.left = weights + (long)blockIdx.y * w.taps * p.left_pitch + w.x;
  w.right = weights + (long)p.rows * w.taps * p.left_pitch + (long)blockIdx.y * w.taps * p.right_pitch + w.x +
            (d_tiles - 1) * T::disparities - w.k;
  const Rows<kGroups> rows(w, reinterpret_cast<uchar*>(shared_memory));

  // In a half-warp, the lanes of two columns of threads read 64 bytes of costs each, which lie in different banks.
  constexpr int runs = 32 / kGroups;
  const int lane = threadIdx.x % 32, group = lane % 2 + lane / (2 * runs) * 2;
  const int column = (threadIdx.x / 32 * kGroups + group) * thread_columns, k = lane / 2 % runs * thread_disparities;
  Sums sums{};
  UpperSums upper{};
  const int pairs = (w.taps_y + 1) / 2;
  int added = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    fetch_rows<kGroups>(p, w, rows, pair);
    wait_for_fetched();
    widen<kGroups>(w, rows);
    __syncthreads();
    if (added + 2 * w.taps_x > most_taps) {
      carry(sums, upper);
      added = 0;
    }
    added += 2 * w.taps_x;
    add_pair<kGroups>(sums, w.taps_x, rows.left + column,
                      rows.wide_right + column + T::disparities - thread_disparities - k,
                      rows.costs + column * T::cost_pitch + k, rows.cost_bytes);
    __syncthreads();
  }
  carry(sums, upper);
  uint* const totals = reinterpret_cast<uint*>(shared_memory);
  add_weights<kGroups>(p, w, reinterpret_cast<uchar*>(totals + T::columns * T::disparities), totals);
#pragma unroll
  for (int i = 0; i < thread_columns; ++i) {
    const int x = w.x + column + i, count = p.disparities - w.k - k;
    if (x >= p.width || count <= 0) continue;
    uint of[thread_disparities];
#pragma unroll
    for (int j = 0; j < thread_disparities; ++j)
      of[j] =
          mean(sums.of[i][j], upper.of[i][j / 2] >> j % 2 * 16 & 0xffff, totals[(column + i) * T::disparities + k + j]);
    store(aggregated + ((long)w.y * p.width + x) * p.disparities + w.k + k, of, count);
  }
}

}  // namespace

#define STEREOPSIS_AGGREGATE(groups)                                                                            \
  extern "C" __global__ void __launch_bounds__(threads, blocks) aggregate_g##groups(                                 \
      ARRAY(const uchar, weights), ARRAY(const uchar, costs), ARRAY(ushort, aggregated), const CudaProblem p) { \
    aggregate<groups>(ELEMENTS(weights), ELEMENTS(costs), ELEMENTS(aggregated), p);                             \
  }
STEREOPSIS_AGGREGATE(2)
STEREOPSIS_AGGREGATE(4)
