// In most strips, the first pass stores the contributions of the paths along a row to the sums. The tiles of these
// strips therefore follow two paths fewer. The stored value is min(…) − min L of equation 4, without the matching cost.
// The stored value is at most P2, so that each path needs one byte.
#pragma once

#include "fused/sgm_wta/sgm_wta_cuda_paths.cuh"

namespace stereopsis::sgm_wta {

template <class T>
constexpr int quads_of_strip = T::tile_width / columns;
template <class T>
// Bytes of a quad of columns in one row; the bytes of a pixel have the order of states.
constexpr int row_quad_bytes = columns * T::range;

// Return the number of kept quads in a row, and the first kept quad.
template <class T>
__device__ __forceinline__ int kept_quads(const Problem& p) {
  return p.kept_strips * quads_of_strip<T>;
}
template <class T>
__device__ __forceinline__ int first_kept_quad(const Problem& p) {
  return p.kept_first * quads_of_strip<T>;
}

// Returns an address in a quad of columns, in which the rows of a band are consecutive.
template <class T>
__device__ __forceinline__ u8* along_row(const Problem& p, bool leftward, int quad, int y) {
  const i64 bands = (leftward ? p.bands : 0) + y / tile_height;
  const i64 place = (bands * kept_quads<T>(p) + quad - first_kept_quad<T>(p)) * tile_height + y % tile_height;
  return p.along_rows + place * row_quad_bytes<T>;
}

// Writes the contributions of the rows that a warp follows. The data passes through shared memory, four columns at a
// time, and is stored by asynchronous bulk copies.
template <class T>
class AlongRows {
 public:
  static constexpr int bytes = T::groups * row_quad_bytes<T>;

  __device__ __forceinline__ AlongRows(const Problem& p, const Position<T>& at, int y, bool leftward, int warp)
      : count_(kept_quads<T>(p)),
        step_((leftward ? -1 : 1) * tile_height * row_quad_bytes<T>),
        mine_(at.group * row_quad_bytes<T> + at.lane * (T::words / words) * 16) {
    static_assert(border_warps * 2 * bytes <= border_bytes<T::range>);
    buffer_ = static_cast<u32>(__cvta_generic_to_shared(border_memory<T::range>())) + warp * 2 * bytes;
    other_buffer_ = buffer_ + bytes;
    const int first = first_kept_quad<T>(p), last = first + count_ - 1;
    first_ = leftward ? quads_of_row(p) - 1 - last : first;
    to_ = along_row<T>(p, leftward, leftward ? last : first, y);
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once_));
  }

  // Waits until the data written before the last quad has left the buffer.
  __device__ __forceinline__ void begin_quad() const {
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncwarp();
  }
  // Stores data to the buffer even if no row is kept, so that all strips execute the same instructions.
  __device__ __forceinline__ void put(const StateOf<T>& brought, int c) const {
#pragma unroll
    for (int i = 0; i < T::words / words; ++i) {
      const Packed p = pack(brought, i * words);
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(buffer_ + mine_ + c * T::range + 16 * i),
                   "r"(p.w[0]), "r"(p.w[1]), "r"(p.w[2]), "r"(p.w[3])
                   : "memory");
    }
  }
  // Ends quad i of the path.
  __device__ __forceinline__ void end_quad(int i) {
    if ((u32)(i - first_) >= (u32)count_) return;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    asm volatile(
        "{ .reg .pred leader;\n\t"
        "elect.sync _|leader, 0xffffffff;\n\t"
        "@leader cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;\n\t"
        "@leader cp.async.bulk.commit_group; }" ::"l"(to_),
        "r"(buffer_), "n"(bytes), "l"(once_)
        : "memory");
    const u32 buffer = buffer_;
    buffer_ = other_buffer_, other_buffer_ = buffer;
    to_ += step_;
  }
  // Waits until all data is visible to other threads.
  __device__ __forceinline__ void finish() const {
    asm volatile("cp.async.bulk.wait_group 0;\n\tfence.proxy.async;" ::: "memory");
    __syncwarp();
  }

 private:
  int first_, count_, step_, mine_;
  u8* to_;
  u32 buffer_, other_buffer_;
  u64 once_;  // cache hint that the data is read only once, much later
};

struct NothingAlongRows {
  template <class... Arguments>
  __device__ __forceinline__ explicit NothingAlongRows(const Arguments&...) {}
};

}  // namespace stereopsis::sgm_wta
