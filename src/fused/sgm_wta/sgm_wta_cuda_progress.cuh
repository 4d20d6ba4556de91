// How the second pass follows the first one: a tile starts as soon as the states are kept that it needs, in the middle of
// the image from half of the first pass on, where the lines downward and upward have met; or, where the lines upward follow
// those downward, behind them. Warps of the first pass count
// themselves where they have kept what others may wait for.
#pragma once

#include "device/cuda/early.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_costs.cuh"

namespace stereopsis::sgm_wta {

template <class V, int kRange>
constexpr BorderForm border_form_of = border_form(kRange, V::paths, V::template Cost<Layout<kRange>, 1>::in_memory,
                                                  V::has_constant_penalty);
template <class V>
constexpr int directions_of = V::diagonals ? 6 : 2;
// Whether Order::senses_in_turn may be asked for.
template <class T, class V>
constexpr bool may_take_turns = V::diagonals && (V::template Cost<T, 1>::in_memory);

__device__ __forceinline__ u32* lines_done_with(const Problem& p, bool up, int bands) {
  return p.progress + up * (p.bands + 1) + bands;
}
__device__ __forceinline__ u32* rows_done_in(const Problem& p, int band) {
  return p.progress + 2 * (p.bands + 1) + band;
}

// Lines are counted where they have done so many bands: nobody waits for less than half of them, unless the senses follow
// one another, nor for each one. (The last but one is none, so that who is a band late misses nothing.)
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

// The warp counts `warps`, after all that they have written: a barrier before has told it of what the others wrote.
__device__ __forceinline__ void count(u32* counter, u32 warps = 1) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(warps) : "memory");
}
// To acquire would empty the first-level cache, whose features other tiles of the multiprocessor use (3 % of the pass on
// compute capability 9.0). There it is not needed: nobody reads a kept state before it was counted, and so that cache
// can't have an older one. What comes later acquires, as the machine's memory model asks for; before, the passes follow one another.
__device__ __forceinline__ void wait_for(const u32* counter, u32 warps, bool acquires) {
  while (true) {
    u32 counted;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(counted) : "l"(counter) : "memory");
    if (counted >= warps) break;
    __nanosleep(400);
  }
  if (acquires) __threadfence();
}

// Until all states are kept that enter tiles of the band; to be followed by a barrier.
template <class T, class V>
__device__ __forceinline__ void wait_for_states(const Problem& p, int band) {
  if (threadIdx.x >= 3) return;
  // Not all counts are waited for; but what follows the tiles may overwrite what the first pass reads and counts in. (Of two
  // kernels of tiles the second one so waits for the first one, and that for the first pass.)
  if (blockIdx.x == gridDim.x - 1) wait_for_kernels_before();
  const bool up = threadIdx.x == 1, along_rows = threadIdx.x == 2;
  constexpr int at_sides = V::diagonals;  // diagonal paths enter while their lines run through the band itself
  const int bands = next_checkpoint<T, V>(p, (up ? p.bands - 1 - band : band) + at_sides);
  const int lines = directions_of<V> / 2 * p.line_bundles;
  const int rows = min(tile_height, p.height - band * tile_height);
  constexpr BorderForm form = border_form_of<V, T::range>;
  const int groups =
      p.wide_rows ? Layout<T::range, form.wide_rows>::groups : Layout<T::range, form.narrow_rows>::groups;
  wait_for(along_rows ? rows_done_in(p, band) : lines_done_with(p, up, bands),
           along_rows ? 2 * ((rows + groups - 1) / groups) : lines, p.acquires);
}

// Tiles in the order in which they can start: bands from the middle outward, or from the last one up.
template <class T, class V>
__device__ __forceinline__ int band_in_order(const Problem& p, int i) {
  if constexpr (may_take_turns<T, V>) {
    if (p.order == Order::senses_in_turn) return p.bands - 1 - i;
  }
  return p.bands / 2 + (i % 2 ? -(i + 1) / 2 : i / 2);
}

}  // namespace stereopsis::sgm_wta
