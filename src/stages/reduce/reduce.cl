// Reduction by an integer factor: reduce.hpp.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0
// instance f32: PIXEL_TYPE=float IS_FLOAT=1
#include "device/gpu/vocabulary.h"

// The four inverses are 1 / count for a whole block, for a block at the right border, at the bottom border, and in the
// corner.
KERNEL(reduce)(IMAGE(const PIXEL_TYPE, grey), IMAGE(const uchar, mask), IMAGE(PIXEL_TYPE, reduced), IMAGE(uchar, usable),
               int factor, int side, float whole, float at_right, float at_bottom, float in_corner) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(reduced) || y >= HEIGHT(reduced)) return;
  const int left = x * factor, top = y * factor;
  const int columns = min(side, WIDTH(grey) - left), rows = min(side, HEIGHT(grey) - top);
#if IS_FLOAT
  float sum = 0.0f;
  for (int i = 0; i < columns; ++i) {
    float column = 0.0f;
    for (int j = 0; j < rows; ++j) column += PIXEL(grey, left + i, top + j);
    sum += column;
  }
  PIXEL(reduced, x, y) = sum * (columns == side ? (rows == side ? whole : at_bottom) : (rows == side ? at_right : in_corner));
#else
  const int count = columns * rows;
  int sum = 0;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) sum += PIXEL(grey, left + i, top + j);
  PIXEL(reduced, x, y) = (PIXEL_TYPE)((sum + count / 2) / count);
#endif
  if (!GIVEN(usable)) return;
  int all = 255;
  for (int j = 0; j < rows && GIVEN(mask); ++j)
    for (int i = 0; i < columns; ++i) all = PIXEL(mask, left + i, top + j) == 0 ? 0 : all;
  PIXEL(usable, x, y) = (uchar)all;
}

KERNEL(scale)(IMAGE(float, disparity), float factor) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const float d = PIXEL(disparity, x, y);
  if (d == d) PIXEL(disparity, x, y) = d * factor;
}
