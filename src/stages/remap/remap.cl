// Resampling at the positions of a map: remap.hpp. NUMBER is the type of the weights, UNIT is 1/256 in this type, and
// FULL is 1.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0 NUMBER=uint UNIT=1u FULL=256u
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0 NUMBER=uint UNIT=1u FULL=256u
// instance f32: PIXEL_TYPE=float IS_FLOAT=1 NUMBER=float UNIT=0.00390625f FULL=1.0f
#include "device/gpu/vocabulary.h"

#define FRACTION_BITS 8
#define ONE (1 << FRACTION_BITS)

// Interpolates between two values that are `next` elements apart.
FUNCTION NUMBER between(GLOBAL const PIXEL_TYPE* p, int next, NUMBER weight) {
  return (FULL - weight) * (NUMBER)p[0] + weight * (NUMBER)p[next];
}

KERNEL(remap)(IMAGE(const PIXEL_TYPE, image), IMAGE(const uchar, mask), IMAGE(const int, map), IMAGE(PIXEL_TYPE, out),
              IMAGE(uchar, usable), int channels) {
  const int column = global_id(0), row = global_id(1);
  if (column >= WIDTH(out) || row >= HEIGHT(out)) return;
  const int px = PIXEL(map, 2 * (long)column, row), py = PIXEL(map, 2 * (long)column + 1, row);
  const int x = px >> FRACTION_BITS, y = py >> FRACTION_BITS;
  const NUMBER a = (NUMBER)(px & (ONE - 1)) * UNIT, b = (NUMBER)(py & (ONE - 1)) * UNIT;
  const int right = a > 0, below = b > 0;
  int has_source = x >= 0 && y >= 0 && x + right < WIDTH(image) && y + below < HEIGHT(image);
  if (has_source && GIVEN(mask))
    has_source = PIXEL(mask, x, y) != 0 && PIXEL(mask, x + right, y) != 0 && PIXEL(mask, x, y + below) != 0 &&
                 PIXEL(mask, x + right, y + below) != 0;
  GLOBAL PIXEL_TYPE* result = &PIXEL(out, (long)column * channels, row);
  for (int c = 0; c < channels && has_source; ++c) {
    const NUMBER upper = between(&PIXEL(image, (long)x * channels + c, y), right * channels, a);
    const NUMBER lower = between(&PIXEL(image, (long)x * channels + c, y + below), right * channels, a);
    const NUMBER value = (FULL - b) * upper + b * lower;
#if IS_FLOAT
    has_source = fabs(value) <= 3.402823466e+38f;
    result[c] = value;
#else
    result[c] = (PIXEL_TYPE)((value + 32768u) >> 16);
#endif
  }
  for (int c = 0; c < channels && !has_source; ++c) result[c] = 0;
  if (GIVEN(usable)) PIXEL(usable, column, row) = has_source ? 255 : 0;
}
