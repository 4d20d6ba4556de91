// Costs as 8-bit integers: quantise.hpp.
//
// instance u8: TYPE=uchar REAL=0
// instance u16: TYPE=ushort REAL=0
// instance f32: TYPE=float REAL=1
#include "device/gpu/vocabulary.h"

#define PER_ITEM 16

FUNCTION uchar in_8_bits(TYPE cost, float scale) {
#if REAL
  const int none = cost != cost;
#else
  const int none = cost == 65535;
#endif
  const float rounded = floor(scale * fmax((float)cost, 0.0f) + 0.5f);
  return (uchar)(none || rounded >= 255.0f ? 255 : (int)rounded);
}

// A work-item processes every local_size-th cell of its group. All these cells lie in one row.
KERNEL(quantise)(ARRAY(const TYPE, costs), ARRAY(uchar, quantised), int cells, int rows, float scale) {
  const int y = global_id(1), first = group_id(0) * local_size(0) * PER_ITEM + local_id(0);
  if (y >= rows) return;
  GLOBAL const TYPE* from = ELEMENTS(costs) + (long)y * cells;
  GLOBAL uchar* to = ELEMENTS(quantised) + (long)y * cells;
  TYPE cost[PER_ITEM];  // all loads are issued before the first value is used
  for (int i = 0; i < PER_ITEM; ++i) cost[i] = from[min(first + i * local_size(0), cells - 1)];
  for (int i = 0; i < PER_ITEM; ++i)
    if (first + i * local_size(0) < cells) to[first + i * local_size(0)] = in_8_bits(cost[i], scale);
}
