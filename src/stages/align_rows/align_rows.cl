// Alignment of rows: align_rows.hpp. Each work-item computes one pixel.
//
// instance u8: PIXEL_TYPE=uchar IS_FLOAT=0
// instance u16: PIXEL_TYPE=ushort IS_FLOAT=0
// instance f32: PIXEL_TYPE=float IS_FLOAT=1
#include "device/gpu/vocabulary.h"

#define FRACTION_BITS 8
#define ONE (1 << FRACTION_BITS)
#define WEIGHT_BITS 14
#define SHIFT 32  // from 1/2^40 px to 1/256 px

typedef struct {
  long at, across, down, both;
  int white, columns, rows;
  long left, per_column, top, per_row;
  short knots[240];
} Parameters;

// The knots on which a position of a spline depends, and their weights in 1/2^16.
typedef struct {
  int first, w0, w1, w2, w3;
} Knots;

FUNCTION int rounded(long cube) { return (int)(((cube >> 12) * 43691 + (1 << 25)) >> 26); }

FUNCTION Knots knots_at(long at, int count) {
  const long one = 1 << 12;
  Knots k;
  k.first = clamp((int)(at >> 32), 0, count - 4);
  const long t = max(min((at >> 20) - k.first * one, one), (long)0), rest = one - t, cube = t * t * t;
  k.w0 = rounded(rest * rest * rest);
  k.w2 = rounded(3 * ((t * one + t * t) * one - cube) + one * one * one);
  k.w3 = rounded(cube);
  k.w1 = (1 << 16) - k.w0 - k.w2 - k.w3;
  return k;
}

FUNCTION long field_at(const Parameters *p, int x, int y) {
  const Knots down = knots_at(p->top + p->per_row * y, p->rows);
  Knots across = {0, 1 << 16, 0, 0, 0};
  if (p->columns > 1) across = knots_at(p->left + p->per_column * x, p->columns);
  long sum = 0;
  for (int i = 0; i < (p->columns > 1 ? 4 : 1); ++i) {
    const int at = down.first * p->columns + across.first + i;
    const long column = (long)down.w0 * p->knots[at] + (long)down.w1 * p->knots[at + p->columns] +
                        (long)down.w2 * p->knots[at + 2 * p->columns] + (long)down.w3 * p->knots[at + 3 * p->columns];
    sum += (i == 0 ? across.w0 : i == 1 ? across.w1 : i == 2 ? across.w2 : across.w3) * (column >> 4);
  }
  return 4 * sum;
}

FUNCTION int position_of(const Parameters *p, int x, int y) {
  long plane = p->at + p->across * x + (p->down + p->both * x) * y + ((long)1 << (SHIFT - 1));
  if (p->rows != 0) plane += field_at(p, x, y);
  return (int)(plane >> SHIFT);
}

// Rounds half of a number with 24 fractional bits to WEIGHT_BITS.
FUNCTION int weight_of(int twice) { return (twice + (1 << (24 - WEIGHT_BITS))) >> (25 - WEIGHT_BITS); }

KERNEL(align_rows)(IMAGE(const PIXEL_TYPE, image), IMAGE(const uchar, mask), IMAGE(PIXEL_TYPE, out),
                   IMAGE(uchar, usable), Parameters p, int channels) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(out) || y >= HEIGHT(out)) return;
  const int position = position_of(&p, x, y), bottom = HEIGHT(image) - 1;
  const int f = position & (ONE - 1), row = position >> FRACTION_BITS;
  const int t1 = f << 16, t2 = (f * f) << 8, t3 = f * f * f;
  const int w0 = weight_of(-t3 + 2 * t2 - t1), w2 = weight_of(-3 * t3 + 4 * t2 + t1), w3 = weight_of(t3 - t2);
  const int w1 = (1 << WEIGHT_BITS) - w0 - w2 - w3;
  const int r0 = clamp(row - 1, 0, bottom), r1 = clamp(row, 0, bottom), r2 = clamp(row + 1, 0, bottom),
            r3 = clamp(row + 2, 0, bottom);
  int is_usable = position >= -ONE / 2 && position <= ONE * HEIGHT(image) - ONE / 2;
  if (GIVEN(mask))
    is_usable = is_usable && (w0 == 0 || PIXEL(mask, x, r0) != 0) && (w1 == 0 || PIXEL(mask, x, r1) != 0) &&
                (w2 == 0 || PIXEL(mask, x, r2) != 0) && (w3 == 0 || PIXEL(mask, x, r3) != 0);
  for (int c = 0; c < channels; ++c) {
    const long i = (long)x * channels + c;
#if IS_FLOAT
    const float unit = 1.0f / (1 << WEIGHT_BITS);
    float value = (w0 * unit) * PIXEL(image, i, r0) + (w1 * unit) * PIXEL(image, i, r1);
    value = value + (w2 * unit) * PIXEL(image, i, r2);
    value = value + (w3 * unit) * PIXEL(image, i, r3);
    const int is_finite = fabs(value) <= 3.402823466e+38f;
    is_usable = is_usable && is_finite;
    const float limited = value < 0 ? 0 : value > p.white ? p.white : value;
    PIXEL(out, i, y) = is_finite ? limited : 0;
#else
    const int sum = w0 * PIXEL(image, i, r0) + w1 * PIXEL(image, i, r1) + w2 * PIXEL(image, i, r2) +
                    w3 * PIXEL(image, i, r3);
    PIXEL(out, i, y) = (PIXEL_TYPE)clamp((sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS, 0, p.white);
#endif
  }
  if (GIVEN(usable)) PIXEL(usable, x, y) = is_usable ? 255 : 0;
}

// Returns the value of a map between two rows.
FUNCTION int between(int upper, int lower, long part) {
  const int none = -2147483647 - 1;
  const long largest = (long)1 << 30;
  const long value = (upper * (ONE - part) + lower * part + ONE / 2) >> FRACTION_BITS;
  return upper == none || lower == none || value < -largest || value > largest ? none : (int)value;
}

KERNEL(align_map)(IMAGE(const int, map), IMAGE(int, out), Parameters p) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(out) || y >= HEIGHT(out)) return;
  const int position = position_of(&p, x, y);
  const int upper = clamp(position >> FRACTION_BITS, 0, max(HEIGHT(map) - 2, 0));
  const int lower = min(upper + 1, HEIGHT(map) - 1);
  const long part = position - (long)ONE * upper;
  for (int c = 0; c < 2; ++c)
    PIXEL(out, 2 * x + c, y) = between(PIXEL(map, 2 * x + c, upper), PIXEL(map, 2 * x + c, lower), part);
}

KERNEL(restore_rows)(IMAGE(const float, map), IMAGE(float, out), Parameters p) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(out) || y >= HEIGHT(out)) return;
  int row = 2 * y - ((position_of(&p, x, y) + ONE / 2) >> FRACTION_BITS);
  if (p.rows != 0) row += y - ((position_of(&p, x, row) + ONE / 2) >> FRACTION_BITS);
  PIXEL(out, x, y) = row >= 0 && row < HEIGHT(map) ? PIXEL(map, x, row) : float_of_bits(0x7fc00000);
}
