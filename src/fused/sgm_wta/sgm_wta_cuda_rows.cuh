// What the paths along a row add to the sums of its pixels is kept by the first pass, so that the tiles have two paths less
// to follow: min(…) − min L of equation 4, without the matching cost, at most P2.
//
// It takes a byte for each path where one of them comes first, and another byte where one comes second. In the middle
// strips, where both meet soon after one another and what the first one left is still in the cache, the second one
// adds its own to that byte instead: that bounds the memory.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

template <class T>
constexpr int quads_of_strip = T::tile_width / columns;
template <class T>
constexpr int row_quad_bytes = columns * T::range;  // of a row; a pixel's lie as states do

// Rows of a band follow one another within a quad of columns.
template <class T>
__device__ __forceinline__ i64 place_of_quad(int y, int quads, int quad) {
  return ((i64)(y / tile_height * quads + quad) * tile_height + y % tile_height) * row_quad_bytes<T>;
}
template <class T>
__device__ __forceinline__ u8* first_along_row(const Problem& p, int quad, int y) {
  return p.first_along_row + place_of_quad<T>(y, quads_of_row(p), quad);
}
// Of a quad that is not in the middle, or the next one beyond its left end.
template <class T>
__device__ __forceinline__ u8* second_along_row(const Problem& p, int quad, int y) {
  const int middle = (p.middle_end - p.middle_first) * quads_of_strip<T>;
  const int place = quad < p.middle_first * quads_of_strip<T> ? quad : quad - middle;
  return p.second_along_row + place_of_quad<T>(y, max(quads_of_row(p) - middle, 0), place);
}

// A pair of warps follows the same rows in both senses. (A barrier whose number the compiler does not know takes all of
// them.)
__device__ __forceinline__ void meet_other_sense(int pair) {
  if (pair == 0)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

// Where a warp writes that of the rows which it follows. It passes through shared memory, four columns at a time, and is
// stored or added by bulk copies that go on by themselves. (Additions by the lanes keep the pipe of loads and exchanges
// busy, and loads would be waited for together with those of features.)
//
// A path comes first up to the middle of its row; there the two meet; from there on it comes second.
template <class T>
class AlongRows {
 public:
  static constexpr int bytes = T::groups * row_quad_bytes<T>;

  __device__ __forceinline__ AlongRows(const Problem& p, const Position<T>& at, int y, bool leftward, int warp)
      : quads_(quads_of_row(p)),
        pair_(warp / 2),
        step_((leftward ? -1 : 1) * tile_height * row_quad_bytes<T>),
        mine_(at.group * row_quad_bytes<T> + at.lane * (T::words / words) * 16) {
    static_assert(border_warps * 2 * bytes <= border_bytes<T::range>);
    buffer_ = static_cast<u32>(__cvta_generic_to_shared(border_memory<T::range>())) + warp * 2 * bytes;
    other_buffer_ = buffer_ + bytes;
    const int middle = (leftward ? p.middle_first : p.middle_end) * quads_of_strip<T>;
    middle_end_ = leftward ? quads_ - middle : min(middle, quads_);
    part_end_ = leftward ? quads_ - quads_ / 2 : quads_ / 2;
    to_ = first_along_row<T>(p, leftward ? quads_ - 1 : 0, y);
    beyond_ = second_along_row<T>(p, leftward ? middle - 1 : middle, y);
#if __CUDA_ARCH__ >= 900
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once_));
#endif
  }

  // Of quads, counted in the order of the path.
  __device__ __forceinline__ int part_end() const { return part_end_; }
  __device__ __forceinline__ void start() {
    if (part_end_ == 0) next_part();
  }
  // False after the last one, when all is where others can read it.
  __device__ __forceinline__ bool next_part() {
    if (part_ == Part::middle) {
      part_ = Part::second, part_end_ = quads_, to_ = beyond_;
      return true;
    }
    finish();
    if (part_ == Part::second) return false;
    meet_other_sense(pair_);
    part_ = Part::middle, part_end_ = middle_end_;
    return true;
  }

  // What was put before the last quad has left its buffer.
  __device__ __forceinline__ void begin_quad() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncwarp();
#endif
  }
  __device__ __forceinline__ void put(const StateOf<T>& brought, int c) const {
#pragma unroll
    for (int i = 0; i < T::words / words; ++i) {
      const Packed p = pack(brought, i * words);
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(buffer_ + mine_ + c * T::range + 16 * i),
                   "r"(p.w[0]), "r"(p.w[1]), "r"(p.w[2]), "r"(p.w[3])
                   : "memory");
    }
  }
  __device__ __forceinline__ void end_quad() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (part_ == Part::middle)
      asm volatile(
          "{ .reg .pred leader;\n\telect.sync _|leader, 0xffffffff;\n\t"
          "@leader cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;\n\t"
          "@leader cp.async.bulk.commit_group; }" ::"l"(to_),
          "r"(buffer_), "n"(bytes)
          : "memory");
    else
      asm volatile(
          "{ .reg .pred leader;\n\telect.sync _|leader, 0xffffffff;\n\t"
          "@leader cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;\n\t"
          "@leader cp.async.bulk.commit_group; }" ::"l"(to_),
          "r"(buffer_), "n"(bytes), "l"(once_)
          : "memory");
    const u32 buffer = buffer_;
    buffer_ = other_buffer_, other_buffer_ = buffer;
#else
    // Each lane what it has put there itself.
#pragma unroll
    for (int i = 0; i < columns * (T::words / words); ++i) {
      const int at = mine_ + i / (T::words / words) * T::range + i % (T::words / words) * 16;
      uint4 v;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "r"(buffer_ + at)
                   : "memory");
      uint4* const there = reinterpret_cast<uint4*>(to_ + at);
      if (part_ == Part::middle) {
        const uint4 first = __ldcg(there);
        v.x += first.x, v.y += first.y, v.z += first.z, v.w += first.w;
      }
      *there = v;
    }
#endif
    to_ += step_;
  }

 private:
  enum class Part { first, middle, second };

  __device__ __forceinline__ void finish() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group 0;\n\tfence.proxy.async;" ::: "memory");
#endif
    __syncwarp();
  }

  int quads_, pair_, step_, mine_;
  Part part_ = Part::first;
  int part_end_, middle_end_;
  u8 *to_, *beyond_;
  u32 buffer_, other_buffer_;
  u64 once_ = 0;  // what is written is read once, much later
};

struct NothingAlongRows {
  template <class... Arguments>
  __device__ __forceinline__ explicit NothingAlongRows(const Arguments&...) {}
  __device__ __forceinline__ void begin_quad() const {}
};

}  // namespace stereopsis::sgm_wta
