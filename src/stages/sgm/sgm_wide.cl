// Semi-global matching from a cost volume with any number of disparities: sgm.hpp. A launch processes one direction, and
// adds the path costs to the sums.
//
// instance u8: COST=uchar
// instance u16: COST=ushort
#include "device/gpu/vocabulary.h"
#include "stages/sgm/sgm_volume.cl.h"

// Return the start of a line. Lines start in the row that all lines cross, if there is such a row. The remaining lines
// start in the first or last column.
FUNCTION int first_x(int line, int width, int dx, int dy) {
  return dy != 0 && line < width ? line : dx > 0 ? 0 : width - 1;
}
FUNCTION int first_y(int line, int width, int height, int dy) {
  if (dy == 0) return line;
  const int entry = dy > 0 ? 0 : height - 1;
  return line < width ? entry : entry + dy * (line - width + 1);
}
// Returns the number of pixels that remain on a path along one axis.
FUNCTION int steps_along(int from, int size, int step) { return step == 0 ? 1 << 30 : step > 0 ? size - from : from + 1; }

// Supports any number of disparities, which are processed one by one. The path costs of the previous pixel and of the
// current pixel lie in scratch memory.
KERNEL(wide_paths)(ARRAY(const COST, costs), IMAGE(const uchar, guide), IMAGE(const ushort, edge), ARRAY(ushort, sums), ARRAY(ushort, scratch),
                   int width, int height, int disparities, int dx, int dy, int add, int max_cost, int p1, int p2,
                   int p2_min, int gradient) {
  LOCAL int lowest[3];  // minima of the previous, the current and the next pixel, in rotation
  const int line = group_id(0), x = first_x(line, width, dx, dy), y = first_y(line, width, height, dy);
  const int steps = min(steps_along(x, width, dx), steps_along(y, height, dy));
  const long start = ((long)y * width + x) * disparities, stride = ((long)dy * width + dx) * disparities;
  // The path cost of disparity k has index k + 1. The first and the last element are larger than any path cost.
  GLOBAL ushort* last = ELEMENTS(scratch) + (long)line * 2 * (disparities + 2);
  GLOBAL ushort* path = last + disparities + 2;
  GLOBAL const ushort* entering = dy == 0 || line >= width ? 0 : costs_before(edge, edge_layout, line - dx, width, disparities, dx);
  for (int k = local_id(0); k < disparities + 2; k += local_size(0)) {
    const int outside = k == 0 || k == disparities + 1;
    last[k] = outside ? BEYOND : entering != 0 ? entering[k - 1] : 0;
    path[k] = BEYOND;
  }
  if (local_id(0) == 0) {
    lowest[0] = 0;
    lowest[1] = lowest[2] = BEYOND;
  }
  BARRIER();
  int turn = 0, grey = entering != 0 && GIVEN(guide) ? PIXEL(guide, x - dx, y - dy) : 0;
  for (int n = 0; n < steps; ++n) {
    GLOBAL const COST* cost = ELEMENTS(costs) + start + n * stride;
    GLOBAL ushort* sum = ELEMENTS(sums) + start + n * stride;
    const int base = lowest[turn], next = turn == 2 ? 0 : turn + 1;
    int jump = p2, mine = BEYOND;
    if (GIVEN(guide)) {
      const int here = PIXEL(guide, x + n * dx, y + n * dy);
      jump = penalty((int)abs(here - grey), p2, p2_min, gradient);
      grey = here;
    }
    for (int k = local_id(0); k < disparities; k += local_size(0)) {
      const int beside = min((int)last[k], (int)last[k + 2]) + p1;
      const int here = min((int)cost[k], max_cost) + min(min((int)last[k + 1], beside), base + jump) - base;
      path[k + 1] = (ushort)here;
      sum[k] = (ushort)(add ? sum[k] + here : here);
      mine = min(mine, here);
    }
    atomic_min(&lowest[next], mine);
    if (local_id(0) == 0) lowest[next == 2 ? 0 : next + 1] = BEYOND;
    BARRIER();
    GLOBAL ushort* const swapped = last;
    last = path;
    path = swapped;
    turn = next;
  }
}
