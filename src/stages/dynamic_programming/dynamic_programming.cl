// Dynamic programming along rows: dynamic_programming.hpp. A group of work-items walks a row forward, and then back; each
// takes every local_size-th disparity. The path costs of the last pixel and of this one lie in local memory, or in scratch
// where there are too many disparities for that (WIDE); those of the forward pass wait in the sums.
//
// instance narrow: WIDE=0
// instance wide: WIDE=1
#include "device/gpu/vocabulary.h"

// Path costs of disparity k are at k + 1; both ends hold more than any path costs.
#undef STATE
#define NARROW_STATE 1026
#define BEYOND 65535
#if WIDE
#define STATE GLOBAL ushort
#else
#define STATE LOCAL_POINTER ushort
#endif

KERNEL(optimise)(ARRAY(const uchar, costs), ARRAY(ushort, sums), ARRAY(ushort, scratch), int width, int disparities,
                 int p1, int p2) {
#if !WIDE
  LOCAL ushort state[2 * NARROW_STATE];
#endif
  LOCAL int lowest[3];  // of the last pixel, of this one, and of the next one, in turn
  const int y = group_id(0);
#if WIDE
  STATE* last = ELEMENTS(scratch) + (long)y * 2 * (disparities + 2);
  STATE* path = last + disparities + 2;
#else
  STATE* last = state;
  STATE* path = state + NARROW_STATE;
#endif
  if (local_id(0) == 0) {
    last[0] = path[0] = last[disparities + 1] = path[disparities + 1] = BEYOND;
    lowest[0] = lowest[1] = lowest[2] = BEYOND;
  }
  BARRIER();

  int turn = 0;
  for (int n = 0; n < 2 * width; ++n) {
    const int starts = n == 0 || n == width;
    const long cell = ((long)y * width + (n < width ? n : 2 * width - 1 - n)) * disparities;
    const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
    int mine = BEYOND;
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      const int cost = ELEMENTS(costs)[cell + k];
      int added = 0;
      if (!starts) {
        const int beside = min((int)last[k], (int)last[k + 2]) + p1;
        added = min(min((int)last[k + 1], beside), base + p2) - base;
      }
      path[k + 1] = (ushort)(cost + added);
      mine = min(mine, cost + added);
      ELEMENTS(sums)[cell + k] = (ushort)(n < width ? cost + added : ELEMENTS(sums)[cell + k] + added);
    }
    if (local_id(0) == 0) lowest[next == 2 ? 0 : next + 1] = BEYOND;
    atomic_min(&lowest[next], mine);
    BARRIER();
    STATE* swap = last;
    last = path;
    path = swap;
    turn = next;
  }
}
