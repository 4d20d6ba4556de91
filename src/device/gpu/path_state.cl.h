// The state of a work-group that walks one path, with a share of the disparities per work-item: the path costs of the
// previous pixel and of the current one. The cost of disparity k is at index k + 1; both ends hold more than any path
// cost. The state lies in local memory, or in the kernel's `scratch` if there are too many disparities for that (WIDE).
// There is no include guard, because every instance needs its own definitions.
#undef STATE
#undef PATH_STATE
#define NARROW_STATE 1026
#define BEYOND 65535

// Declares the state in a kernel's outermost scope: `last` and `path`, and `lowest`, the minima of the path costs of
// the previous, the current and the next pixel, which are used in turn.
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
// Lowers `*lowest` to the minimum of the group's values. On CUDA, each warp first reduces its own values.
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
// Ends a pixel, whose path costs have the minimum `mine` in this work-item: the pixel becomes the previous one.
#define END_PIXEL(turn, next, mine)                                \
  group_min(&lowest[next], mine);                                  \
  if (local_id(0) == 0) lowest[(next) == 2 ? 0 : (next) + 1] = BEYOND; \
  BARRIER();                                                       \
  STATE* const swapped = last;                                     \
  last = path;                                                     \
  path = swapped;                                                  \
  turn = next
