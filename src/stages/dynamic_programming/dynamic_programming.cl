// Dynamic programming along rows: dynamic_programming.hpp. A group of work-items walks along a row, forward and then
// back. Each work-item processes every local_size-th disparity. The path costs of the previous pixel and of the current
// pixel lie in local memory. If there are too many disparities (WIDE), they lie in scratch memory. Between the passes,
// the sums hold the path costs of the forward pass.
//
// instance narrow: WIDE=0
// instance wide: WIDE=1
#include "device/gpu/vocabulary.h"
#include "device/gpu/path_state.cl.h"

KERNEL(optimise)(ARRAY(const uchar, costs), ARRAY(ushort, sums), ARRAY(ushort, scratch), int width, int disparities,
                 int p1, int p2) {
  const int y = group_id(0);
  PATH_STATE(y, disparities);
  START_PATH(disparities);

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
    END_PIXEL(turn, next, mine);
  }
}
