// The state of a work-group that walks along one path: the path costs of the previous pixel and of the current pixel.
// Each work-item has a share of the disparities. The path cost of disparity k has index k + 1. The first and the last
// element are larger than any path cost. The state lies in local memory. If there are too many disparities (WIDE), it
// lies in the kernel's `scratch`. There is no include guard, because every instance needs its own definitions.
#undef STATE
#undef PATH_STATE
#define NARROW_STATE 1026
#define BEYOND 65535

// Declares the state in the outermost scope of a kernel: `last` and `path`, and `lowest`. `lowest` has the minima of
// the path costs of the previous, the current and the next pixel, in rotation.
#if WIDE
#define STATE GLOBAL ushort
#define PATH_STATE(line, disparities)                                      \
  LOCAL int lowest[3];                                                     \
  STATE* last = ELEMENTS(scratch) + (long)(line) * 2 * ((disparities) + 2); \
  STATE* path = last + (disparities) + 2
#else
#define STATE LOCAL_POINTER ushort
#define PATH_STATE(line, disparities)   \
  LOCAL int lowest[3];                  \
  LOCAL ushort state[2 * NARROW_STATE]; \
  STATE* last = state;                  \
  STATE* path = state + NARROW_STATE
#endif

// Initialises the state before the first pixel, and synchronises the group.
#define START_PATH(disparities)                                                                 \
  if (local_id(0) == 0) {                                                                       \
    last[0] = path[0] = last[(disparities) + 1] = path[(disparities) + 1] = BEYOND;              \
    lowest[0] = lowest[1] = lowest[2] = BEYOND;                                                 \
  }                                                                                             \
  BARRIER()
// Lowers `*lowest` to the minimum of the group's values. On CUDA, each warp first reduces the values of its own
// work-items.
#ifdef __CUDACC__
FUNCTION int warp_min(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xFFFFFFFFu, value);
#else
  for (int apart = 16; apart > 0; apart /= 2) value = min(value, __shfl_xor_sync(0xFFFFFFFFu, value, apart));
  return value;
#endif
}
FUNCTION void group_min(int* lowest, int value) {
  const int of_warp = warp_min(value);
  if (local_id(0) % 32 == 0) atomic_min(lowest, of_warp);
}
#else
#define group_min(lowest, value) atomic_min(lowest, value)
#endif
// Ends a pixel: the current pixel becomes the previous pixel. `mine` is the minimum of its path costs in this
// work-item.
#define END_PIXEL(turn, next, mine)                                \
  group_min(&lowest[next], mine);                                  \
  if (local_id(0) == 0) lowest[(next) == 2 ? 0 : (next) + 1] = BEYOND; \
  BARRIER();                                                       \
  STATE* const swapped = last;                                     \
  last = path;                                                     \
  path = swapped;                                                  \
  turn = next
