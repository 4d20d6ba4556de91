// Costs as integers of 8 bits: quantise.hpp.
//
// instance u8: TYPE=uchar REAL=0
// instance u16: TYPE=ushort REAL=0
// instance f32: TYPE=float REAL=1
#include "device/gpu/vocabulary.h"

// A work-item for each cell of a row.
KERNEL(quantise)(ARRAY(const TYPE, costs), ARRAY(uchar, quantised), int cells, int rows, float scale) {
  const int cell = global_id(0), y = global_id(1);
  if (cell >= cells || y >= rows) return;
  const TYPE cost = ELEMENTS(costs)[(long)y * cells + cell];
#if REAL
  const int none = cost != cost;
#else
  const int none = cost == 65535;
#endif
  const float rounded = floor(scale * fmax((float)cost, 0.0f) + 0.5f);
  ELEMENTS(quantised)[(long)y * cells + cell] = (uchar)(none || rounded >= 255.0f ? 255 : (int)rounded);
}
