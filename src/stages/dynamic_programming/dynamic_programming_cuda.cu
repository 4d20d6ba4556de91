// Dynamic programming along rows: dynamic_programming.hpp.
//
// A warp processes a row from both ends at the same time. Up to the middle, each direction stores the addend min[…] −
// min_k L(k), which it adds to the costs of a pixel and which is at most P2. From the middle on, each direction reads
// the addend that the other direction has stored, and computes S as the sum of L and that addend.
//
// A lane holds 2 n adjacent disparities in n words. Word j holds the numbers j and n + j, so that the neighbours of its
// disparities are in the neighbouring words. All values are below 2^16, because costs are at most 255 and penalties at
// most 32639.
#include <bit>

#include "device/cuda/words.cuh"
#include "stages/dynamic_programming/dynamic_programming_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::dynamic_programming;

namespace {

constexpr u32 everywhere = 0xFFFFFFFF;
constexpr int ahead = gpu::pick(tunings, gpu::compiled_capability).ahead;
constexpr int ring_bytes = gpu::pick(tunings, gpu::compiled_capability).ring_bytes;

struct Layout {  // layout of an image in memory
  i64 offset, pitch;
  std::int32_t width, height;
};

template <int n>
struct alignas(4 * n) Words {
  u32 of[n];
};

// Returns p + i · pitch, computed with one instruction.
template <class T>
__device__ __forceinline__ T* at(T* p, int i, int pitch) {
  T* q;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(q) : "r"(i), "r"(static_cast<int>(sizeof(T)) * pitch), "l"(p));
  __builtin_assume(__isGlobal(q));
  return q;
}

// 2 n bytes for adjacent disparities, in the order of memory.
template <int n>
struct alignas(2 * n) Bytes {
  u32 of[n / 2];
};

// Loads 2 n bytes. With `whole`, all bytes exist and are aligned to their number. Otherwise, only the first `count`
// exist.
template <int n, bool whole>
__device__ __forceinline__ Bytes<n> load_bytes(const std::uint8_t* at, int count) {
  if constexpr (whole) {
    if (count <= 0) return {};
    if constexpr (n == 2) return {{*reinterpret_cast<const u32*>(at)}};
    if constexpr (n == 4) {
      const uint2 v = *reinterpret_cast<const uint2*>(at);
      return {{v.x, v.y}};
    }
  } else {
    Bytes<n> bytes = {};
#pragma unroll
    for (int i = 0; i < 2 * n; ++i)
      if (i < count) bytes.of[i / 4] |= static_cast<u32>(at[i]) << i % 4 * 8;
    return bytes;
  }
}

template <int n>
__device__ __forceinline__ Words<n> words_of(const Bytes<n>& b) {
  if constexpr (n == 2) return {{__byte_perm(b.of[0], 0, 0x4240), __byte_perm(b.of[0], 0, 0x4341)}};
  if constexpr (n == 4) {
    const u32 even = __byte_perm(b.of[0], b.of[1], 0x5140), odd = __byte_perm(b.of[0], b.of[1], 0x7362);
    return {{__byte_perm(even, 0, 0x4140), __byte_perm(even, 0, 0x4342), __byte_perm(odd, 0, 0x4140),
             __byte_perm(odd, 0, 0x4342)}};
  }
}

template <int n>
__device__ __forceinline__ Bytes<n> bytes_of(const Words<n>& w) {
  if constexpr (n == 2) return {{__byte_perm(w.of[0], w.of[1], 0x6240)}};
  if constexpr (n == 4) {
    const u32 even = __byte_perm(w.of[0], w.of[1], 0x6240), odd = __byte_perm(w.of[2], w.of[3], 0x6240);
    return {{__byte_perm(even, odd, 0x5410), __byte_perm(even, odd, 0x7632)}};
  }
}

// A path along a row.
template <int n>
class Path {
 public:
  __device__ explicit Path(const CudaRows& rows, int lane)
      : p1_(rows.p1), p2_(rows.p2), before_(lane == 0 ? 0x5454 : 0x5432), after_(lane == 31 ? 0x7676 : 0x1076) {
    for (int j = 0; j < n; ++j) path_.of[j] = 0;
    is_first_ = lane == 0;
    is_last_ = lane == 31;
    lowest_ = 0;
  }

  // Returns min[…] − min_k L(k), which is added to the costs of a pixel.
  __device__ __forceinline__ Words<n> next() const {
    const u32 first = path_.of[0], last = path_.of[n - 1];
    u32 before = __byte_perm(__shfl_up_sync(everywhere, last, 1), last, before_),
        after = __byte_perm(__shfl_down_sync(everywhere, first, 1), first, after_);
    if constexpr (n > 2) {  // the last disparity of a lane is not a neighbour of its first
      if (is_first_) before = __byte_perm(first, before, 0x7610);
      if (is_last_) after = __byte_perm(after, last, 0x7610);
    }
    const u32 limit = lowest_ + p2_;
    Words<n> raised;
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const u32 beside =
          __vminu2(j == 0 ? before : path_.of[j > 0 ? j - 1 : 0], j == n - 1 ? after : path_.of[j < n - 1 ? j + 1 : 0]);
      raised.of[j] = __vminu2(__viaddmin_u16x2(beside, p1_, path_.of[j]), limit) - lowest_;
    }
    return raised;
  }

  __device__ __forceinline__ void take(const Words<n>& raised, const Words<n>& costs) {
#pragma unroll
    for (int j = 0; j < n; ++j) path_.of[j] = raised.of[j] + costs.of[j];
    u32 least = path_.of[0];
#pragma unroll
    for (int j = 1; j < n; ++j) least = __vminu2(least, path_.of[j]);
    lowest_ = __reduce_min_sync(everywhere, __vminu2(least, __byte_perm(least, 0, 0x1032)));
  }

  __device__ __forceinline__ const Words<n>& costs() const { return path_; }

 private:
  u32 p1_, p2_, before_, after_;
  bool is_first_, is_last_;
  Words<n> path_;
  u32 lowest_;
};

// The row of a warp, which is processed pixel by pixel.
template <int n, bool whole>
class Row {
 public:
  __device__ Row(const CudaRows& rows, const std::uint8_t* costs, int y, int lane)
      : lane_(lane),
        first_(2 * n * lane),
        count_(rows.disparities - first_),
        pitch_(rows.disparities),
        costs_(costs + static_cast<i64>(y) * rows.width * rows.disparities + first_) {
    // Costs beyond the last disparity are so large that they are never the minimum, even when a penalty is added.
    const u32 beyond = 0xFFFF - (rows.p1 & 0xFFFF) - (rows.p2 & 0xFFFF);
    for (int j = 0; j < n; ++j) {
      const bool low = j < count_, high = n + j < count_;
      kept_.of[j] = (low ? 0xFFFF : 0) | (high ? 0xFFFF0000 : 0);
      beyond_.of[j] = (low ? 0 : beyond) | (high ? 0 : beyond << 16);
    }
  }
  __device__ __forceinline__ const std::uint8_t* place(int x) const { return at(costs_, x, pitch_); }
  __device__ __forceinline__ Bytes<n> load(int x) const { return load_bytes<n, whole>(place(x), count_); }
  __device__ __forceinline__ Words<n> words(const Bytes<n>& bytes) const {
    Words<n> words = words_of<n>(bytes);
#pragma unroll
    for (int j = 0; j < n; ++j) words.of[j] = (words.of[j] & kept_.of[j]) | beyond_.of[j];
    return words;
  }
  // Returns the cost and the disparity of the minimum over all lanes.
  __device__ __forceinline__ u32 best(const Words<n>& sums) const {
    u32 least = 0xFFFFFFFF;
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const u32 sum = sums.of[j] | ~kept_.of[j];
      least = __vimin3_u32(least, sum << 16 | (first_ + j), (sum & 0xFFFF0000) | (first_ + n + j));
    }
    return __reduce_min_sync(everywhere, least);
  }
  __device__ int lane() const { return lane_; }
  __device__ int first() const { return first_; }
  __device__ int count() const { return count_; }

 private:
  int lane_, first_, count_, pitch_;
  const std::uint8_t* costs_;
  Words<n> kept_, beyond_;
};

// The values that a lane reads for the i-th pixels of both directions.
template <int n, class Kept>
struct Pixels {
  Bytes<n> costs[2];
  Kept kept[2];
};

// A ring in shared memory, into which each lane copies its own part of the coming pixels. Loads into registers share a
// few counters, so that a warp would wait for the latest one in each round.
template <int n, class Kept>
struct Ring {
  static constexpr unsigned slots =
      std::bit_floor(ring_bytes / (64 * static_cast<unsigned>(sizeof(Bytes<n>) + sizeof(Kept))));
  Bytes<n> costs[slots][2][32];
  Kept kept[slots][2][32];
};

template <class T>
__device__ __forceinline__ void copy(T& to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(&to))),
               "l"(from), "n"(sizeof(T))
               : "memory");
}

// Calls visit(i, pixels) for i = 0, 1, …, where direction 0 is at first + i and direction 1 is at last − i. Only with
// `with_kept`, the pixels contain kept addends.
template <bool with_kept, int n, bool whole, class Keep, class Kept, class Visit>
__device__ __forceinline__ void walk(const Row<n, whole>& row, const Keep& keep, Ring<n, Kept>& ring, int count,
                                     int first, int last, const Visit& visit) {
  const auto x_of = [&](int i, int way) { return way == 0 ? first + i : last - i; };
  Pixels<n, Kept> now{};
  if constexpr (whole) {
    constexpr int slots = Ring<n, Kept>::slots;
    const int lane = row.lane();
    const bool has_costs = row.count() > 0;
    const auto copy_pixels = [&](int i) {
      const int slot = i & slots - 1;
      if (i < count && has_costs) {
#pragma unroll
        for (int way = 0; way < 2; ++way) {
          copy(ring.costs[slot][way][lane], row.place(x_of(i, way)));
          if constexpr (with_kept) copy(ring.kept[slot][way][lane], keep.place(x_of(i, way)));
        }
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
    };
    __threadfence_block();  // the addends are stored before they are copied
#pragma unroll 1
    for (int i = 0; i < slots - 1; ++i) copy_pixels(i);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      asm volatile("cp.async.wait_group %0;" ::"n"(slots - 2) : "memory");
      const int slot = i & slots - 1;
#pragma unroll
      for (int way = 0; way < 2; ++way) {
        now.costs[way] = ring.costs[slot][way][lane];
        if constexpr (with_kept) now.kept[way] = ring.kept[slot][way][lane];
      }
      visit(i, now);
      copy_pixels(i + slots - 1);  // into the slot of the previous pixel
    }
  } else {
    if (count <= 0) return;
    const auto load = [&](int i) {
      Pixels<n, Kept> pixels{};
#pragma unroll
      for (int way = 0; way < 2; ++way) {
        pixels.costs[way] = row.load(x_of(i, way));
        if constexpr (with_kept) pixels.kept[way] = keep.load(x_of(i, way));
      }
      return pixels;
    };
    Pixels<n, Kept> coming[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) coming[i] = load(min(i, count - 1));
    for (int start = 0; start < count; start += ahead) {
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        if (start + i >= count) break;
        now = coming[i];
        coming[i] = load(min(start + i + ahead, count - 1));
        visit(start + i, now);
      }
    }
  }
}

// Processes the row of a warp from both ends. `keep` stores the addend of a direction at x, loads it, and converts it
// to words. The function `give` receives S of each pixel once: of the i-th pixel of both halves, and of the middle pixel
// (direction 2). The function `after` is called when S was passed to `give` for the pixels up to the i-th.
template <int n, bool whole, class Keep, class Give, class After>
__device__ __forceinline__ void meet(const CudaRows& rows, const Row<n, whole>& row, const Keep& keep, const Give& give,
                                     const After& after) {
  __shared__ Ring<n, decltype(keep.load(0))> ring;
  Path<n> paths[2] = {Path<n>(rows, row.lane()), Path<n>(rows, row.lane())};
  const int half = rows.width / 2, last = rows.width - 1;
  walk<false>(row, keep, ring, half, 0, last, [&](int i, const auto& pixels) {
#pragma unroll
    for (int way = 0; way < 2; ++way) {
      const Words<n> raised = paths[way].next();
      keep.store(way == 0 ? i : last - i, raised);
      paths[way].take(raised, row.words(pixels.costs[way]));
    }
  });
  const auto sum = [](const Words<n>& a, const Words<n>& b) {
    Words<n> sums;
#pragma unroll
    for (int j = 0; j < n; ++j) sums.of[j] = a.of[j] + b.of[j];
    return sums;
  };
  if (rows.width % 2 == 1) {
    const Words<n> costs = row.words(row.load(half)), forward = paths[0].next(), backward = paths[1].next();
    paths[0].take(forward, costs);
    paths[1].take(backward, costs);
    give(half, 0, 2, sum(paths[0].costs(), backward));
  }
  const int first = rows.width - half;
  walk<true>(row, keep, ring, half, first, half - 1, [&](int i, const auto& pixels) {
#pragma unroll
    for (int way = 0; way < 2; ++way) {
      paths[way].take(paths[way].next(), row.words(pixels.costs[way]));
      give(way == 0 ? first + i : half - 1 - i, i, way, sum(paths[way].costs(), keep.words(pixels.kept[way])));
    }
    after(i);
  });
}

// Keeps addends in bytes, in memory with 64 n bytes for each pixel.
template <int n>
struct KeptBytes {
  std::uint8_t* own;  // the lane's part of the first pixel of the row

  __device__ __forceinline__ std::uint8_t* place(int x) const { return at(own, x, 64 * n); }
  __device__ __forceinline__ void store(int x, const Words<n>& raised) const {
    *reinterpret_cast<Bytes<n>*>(place(x)) = bytes_of<n>(raised);
  }
  __device__ __forceinline__ Bytes<n> load(int x) const { return load_bytes<n, true>(place(x), 2 * n); }
  __device__ __forceinline__ Words<n> words(const Bytes<n>& bytes) const { return words_of<n>(bytes); }
};

// Selects the integer disparities with the lowest S.
template <int n, bool whole>
__device__ __forceinline__ void select(const std::uint8_t* __restrict__ costs, std::uint8_t* kept, float* disparity,
                                       const Layout& layout, std::uint8_t* validity, const Layout& validity_layout,
                                       const CudaRows& rows) {
  const int y = blockIdx.x, lane = threadIdx.x;
  const Row<n, whole> row(rows, costs, y, lane);
  const KeptBytes<n> keep{kept + (static_cast<i64>(y) * rows.width * 32 + lane) * (2 * n)};
  const int half = rows.width / 2, first = rows.width - half;
  const auto store = [&](int x, u32 best) {
    disparity[layout.offset + y * layout.pitch + x] =
        static_cast<float>(rows.min_disparity + static_cast<int>(best & 0xFFFF));
    validity[validity_layout.offset + y * validity_layout.pitch + x] = 0;
  };
  u32 mine[2] = {};  // the best disparity of one pixel of 32, for both halves
  meet(
      rows, row, keep,
      [&](int x, int i, int way, const Words<n>& sums) {
        const u32 best = row.best(sums);
        if (way == 2) {
          if (lane == 0) store(x, best);
        } else if (lane == (i & 31)) {
          mine[way] = best;
        }
      },
      [&](int i) {
        if ((i & 31) != 31 && i + 1 != half) return;
        const int nth = (i & ~31) + lane;
        if (nth >= half) return;
        store(first + nth, mine[0]);
        store(half - 1 - nth, mine[1]);
      });
}

// Keeps addends in the memory of the result, in its order.
template <int n, bool whole>
struct KeptSums {
  std::uint16_t* own;  // the lane's part of the first pixel of the row
  int pitch, count;

  __device__ __forceinline__ std::uint16_t* place(int x) const { return at(own, x, pitch); }
  __device__ __forceinline__ void store(int x, const Words<n>& w) const {
    if constexpr (whole) {
      if (count > 0) *reinterpret_cast<Words<n>*>(place(x)) = in_order(w);
    } else {
#pragma unroll
      for (int j = 0; j < 2 * n; ++j)
        if (j < count) place(x)[j] = static_cast<std::uint16_t>(w.of[j % n] >> j / n * 16);
    }
  }
  __device__ __forceinline__ Words<n> load(int x) const {
    Words<n> w = {};
    if constexpr (whole) {
      if (count > 0) w = *reinterpret_cast<const Words<n>*>(place(x));
    } else {
#pragma unroll
      for (int j = 0; j < 2 * n; ++j)
        if (j < count) w.of[j / 2] |= static_cast<u32>(place(x)[j]) << j % 2 * 16;
    }
    return w;
  }
  // Converts between the order of memory, in which a word has two adjacent disparities, and that of Words.
  __device__ static __forceinline__ Words<n> in_order(const Words<n>& w) {
    Words<n> ordered;
#pragma unroll
    for (int j = 0; j < n; ++j)
      ordered.of[j] = __byte_perm(w.of[2 * j % n], w.of[2 * j % n + 1], j < n / 2 ? 0x5410 : 0x7632);
    return ordered;
  }
  __device__ __forceinline__ Words<n> words(const Words<n>& ordered) const {
    Words<n> w;
#pragma unroll
    for (int j = 0; j < n; ++j)
      w.of[j] = __byte_perm(ordered.of[j / 2], ordered.of[j / 2 + n / 2], j % 2 == 0 ? 0x5410 : 0x7632);
    return w;
  }
};

// Computes S of all disparities.
template <int n, bool whole>
__device__ __forceinline__ void sum(const std::uint8_t* __restrict__ costs, std::uint16_t* sums, const CudaRows& rows) {
  const int y = blockIdx.x, lane = threadIdx.x;
  const Row<n, whole> row(rows, costs, y, lane);
  const KeptSums<n, whole> keep{sums + static_cast<i64>(y) * rows.width * rows.disparities + row.first(),
                                rows.disparities, row.count()};
  meet(rows, row, keep, [&](int x, int, int, const Words<n>& s) { keep.store(x, s); }, [](int) {});
}

}  // namespace

extern "C" {

#define STEREOPSIS_ROWS(name, n, whole)                                                                              \
  __global__ void __launch_bounds__(32) select_##name(                                                               \
      const std::uint8_t* costs, i64 costs_offset, std::uint8_t* kept, i64 kept_offset, float* disparity,            \
      Layout layout, std::uint8_t* validity, Layout validity_layout, const CudaRows rows) {                          \
    select<n, whole>(costs + costs_offset, kept + kept_offset, disparity, layout, validity, validity_layout, rows);  \
  }                                                                                                                  \
  __global__ void __launch_bounds__(32) sum_##name(const std::uint8_t* costs, i64 costs_offset, std::uint16_t* sums, \
                                                   i64 sums_offset, const CudaRows rows) {                           \
    sum<n, whole>(costs + costs_offset, sums + sums_offset, rows);                                                   \
  }
STEREOPSIS_ROWS(2, 2, true)
STEREOPSIS_ROWS(4, 4, true)
STEREOPSIS_ROWS(2_odd, 2, false)
STEREOPSIS_ROWS(4_odd, 4, false)
}
