// Synchronises the second pass with the first: a tile starts as soon as the states that it needs are stored. Tiles in
// the middle of the image can start after half of the first pass, when the downward and the upward lines have met. If
// the upward lines follow the downward lines, tiles start behind the upward lines. A warp of the first pass counts
// itself when it has stored states for which other warps may wait.
#pragma once

#include "device/cuda/early.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_costs.cuh"

namespace stereopsis::sgm_wta {

template <class V, int kRange>
constexpr BorderForm border_form_of = border_form(kRange, V::paths, V::template Cost<Layout<kRange>, 1>::in_memory,
                                                  V::has_constant_penalty);
template <class V>
constexpr int directions_of = V::diagonals ? 6 : 2;
// True if the blocks may run in the order Order::senses_in_turn.
template <class T, class V>
constexpr bool may_take_turns = V::diagonals && (V::template Cost<T, 1>::in_memory);

__device__ __forceinline__ u32* lines_done_with(const Problem& p, bool up, int bands) {
  return p.progress + up * (p.bands + 1) + bands;
}
__device__ __forceinline__ u32* rows_done_in(const Problem& p, int band) {
  return p.progress + 2 * (p.bands + 1) + band;
}

// Lines are counted when these numbers of bands are finished. No tile waits for fewer than half of the bands, unless
// the directions follow one another, and no tile waits for each band. (The second-last band is not a checkpoint, so
// that a delay of one band has no effect.)
constexpr int checkpoint_bands = 4;
template <class T, class V>
__device__ __forceinline__ int first_checkpoint(const Problem& p) {
  if constexpr (may_take_turns<T, V>) {
    if (p.order == Order::senses_in_turn) return 0;
  }
  return (p.bands + 1) / 2;
}
template <class T, class V>
__device__ __forceinline__ int next_checkpoint(const Problem& p, int bands) {
  const int least = max(bands, first_checkpoint<T, V>(p));
  const int next = (least + checkpoint_bands - 1) / checkpoint_bands * checkpoint_bands;
  return next + 1 < p.bands ? next : p.bands;
}

// Adds `warps` to a counter after all writes of these warps. An earlier barrier has made the writes of the other warps
// visible to this warp.
__device__ __forceinline__ void count(u32* counter, u32 warps = 1) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(warps) : "memory");
}
// Polls with relaxed loads, because each acquire empties the L1 cache, whose features other tiles of the multiprocessor
// use. The last load acquires what the counted warps released: it reads the polled value or a later one, which belongs
// to the release sequences of all additions before.
__device__ __forceinline__ void wait_for(const u32* counter, u32 warps) {
  u32 counted;
  while (true) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(counted) : "l"(counter) : "memory");
    if (counted >= warps) break;
    __nanosleep(400);
  }
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(counted) : "l"(counter) : "memory");
}

// Waits until all states that enter tiles of the band are stored. A barrier must follow this call.
template <class T, class V>
__device__ __forceinline__ void wait_for_states(const Problem& p, int band) {
  if (threadIdx.x >= 3) return;
  // Tiles do not wait for all counters, but kernels after the tiles may overwrite memory that the first pass reads or
  // counts in. The last block therefore waits for all previous kernels. If there are two kernels of tiles, the second
  // waits for the first, and the first waits for the first pass.
  if (blockIdx.x == gridDim.x - 1) wait_for_kernels_before();
  const bool up = threadIdx.x == 1, along_rows = threadIdx.x == 2;
  constexpr int at_sides = V::diagonals;  // diagonal paths enter a tile while their lines run through the band itself
  const int bands = next_checkpoint<T, V>(p, (up ? p.bands - 1 - band : band) + at_sides);
  const int lines = directions_of<V> / 2 * p.line_bundles;
  const int rows = min(tile_height, p.height - band * tile_height);
  constexpr BorderForm form = border_form_of<V, T::range>;
  const int groups =
      p.wide_rows ? Layout<T::range, form.wide_rows>::groups : Layout<T::range, form.narrow_rows>::groups;
  wait_for(along_rows ? rows_done_in(p, band) : lines_done_with(p, up, bands),
           along_rows ? 2 * ((rows + groups - 1) / groups) : lines);
}

// Returns the bands of tiles in the order in which they can start: from the middle outward, or from the last one up.
template <class T, class V>
__device__ __forceinline__ int band_in_order(const Problem& p, int i) {
  if constexpr (may_take_turns<T, V>) {
    if (p.order == Order::senses_in_turn) return p.bands - 1 - i;
  }
  return p.bands / 2 + (i % 2 ? -(i + 1) / 2 : i / 2);
}

}  // namespace stereopsis::sgm_wta
