// Pairs of 16-bit values in words, and the exchange of values among LANES adjacent work-items of a group of 32 that
// process one line of an image together.
//
// All values are below 0x7C00. They are therefore also the bit patterns of non-negative half floats, which have the same
// order. There is no include guard, because every instance of a kernel includes this file with its own LANES.
#undef BOTH
#undef LANE_EXCHANGE
#undef EXCHANGE
#define BOTH(v) ((uint)(v) * 65537u)

// Returns the minimum of each half of the words.
FUNCTION uint min_of_pairs(uint a, uint b) {
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
#define HAS_HALF_MINIMUM
#endif
#elif NVIDIA_CAPABILITY >= 80
#define HAS_HALF_MINIMUM
#endif
#ifdef HAS_HALF_MINIMUM
  uint result;
  asm("min.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#elif defined(__CUDACC__)
  return min(a & 0xFFFFu, b & 0xFFFFu) | min(a & 0xFFFF0000u, b & 0xFFFF0000u);
#else
  return as_uint(min(as_ushort2(a), as_ushort2(b)));
#endif
}

// LANE_EXCHANGE declares the memory of exchanges in the outermost scope of a kernel. EXCHANGE replaces `lowest` by its
// minimum over the lanes of the line, and sets `before` to `last` of the previous work-item and `after` to `first` of the
// next work-item. Only the upper half of `before` and the lower half of `after` are defined. `turn` alternates between
// 0 and 1, so that one barrier per exchange is sufficient.
#ifdef __CUDACC__
#define LANE_EXCHANGE
#define EXCHANGE(lowest, before, after, last, first, turn)                                                        \
  for (int apart = LANES / 2; apart > 0; apart /= 2) lowest = min(lowest, __shfl_xor_sync(~0u, lowest, apart)); \
  before = __shfl_up_sync(~0u, last, 1);                                                                          \
  after = __shfl_down_sync(~0u, first, 1);
#else
#define LANE_EXCHANGE              \
  LOCAL uint exchanged_edges[64];  \
  LOCAL uint4 exchanged_minima[8]
#define EXCHANGE(lowest, before, after, last, first, turn)                                                     \
  exchanged_edges[(turn) * 32 + item] = ((last) & 0xFFFF0000u) | ((first) & 0xFFFFu);                          \
  ((LOCAL_POINTER ushort*)exchanged_minima)[(turn) * 32 + item] = (ushort)lowest;                              \
  barrier(CLK_LOCAL_MEM_FENCE);                                                                                \
  {                                                                                                            \
    LOCAL_POINTER const uint4* minima = exchanged_minima + (turn) * 4 + item / LANES * LANES / 8;              \
    uint all = BOTH(lowest);                                                                                   \
    for (int i = 0; i < (LANES + 7) / 8; ++i) {                                                                \
      const uint4 eight = minima[i];                                                                           \
      if (LANES >= 8)                                                                                          \
        all = min_of_pairs(all, min_of_pairs(min_of_pairs(eight.x, eight.y), min_of_pairs(eight.z, eight.w))); \
      else                                                                                                     \
        all = min_of_pairs(all, item / LANES % 2 == 0 ? min_of_pairs(eight.x, eight.y)                         \
                                                      : min_of_pairs(eight.z, eight.w));                       \
    }                                                                                                          \
    lowest = min(all & 0xFFFFu, all >> 16);                                                                    \
  }                                                                                                            \
  before = exchanged_edges[(turn) * 32 + max(item, 1) - 1];                                                    \
  after = exchanged_edges[(turn) * 32 + min(item, 30) + 1];
#endif
