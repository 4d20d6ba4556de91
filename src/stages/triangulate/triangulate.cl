// Triangulation: triangulate.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

// Returns a / b, rounded to the nearest float, for positive normal a, b and a / b.
FUNCTION float ratio(float a, float b) {
#ifdef ROUNDED_DIVISION
  return a / b;
#else
  // Long division of the mantissas yields at least 39 bits, and the lowest of these bits is sticky.
  const uint bits_a = as_uint(a), bits_b = as_uint(b);
  const ulong dividend = (ulong)((bits_a & 0x7FFFFFu) | 0x800000u) << 40, divisor = (bits_b & 0x7FFFFFu) | 0x800000u;
  ulong q = dividend / divisor;
  q |= (ulong)(q * divisor != dividend);
  return ldexp(convert_float_rte(q), (int)(bits_a >> 23) - (int)(bits_b >> 23) - 40);
#endif
}

KERNEL(triangulate)(IMAGE(const float, disparity), IMAGE(const uchar, validity), IMAGE(const float, confidence), IMAGE(float, depth),
                    IMAGE(float, points), IMAGE(float, uncertainty), float depth_scale, float offset,
                    float inverse_focal, float first_x, float first_y, float step, float half_baseline,
                    float error_scale, int head) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const float w = PIXEL(disparity, x, y) - offset;
  const int measured = !GIVEN(validity) || PIXEL(validity, x, y) == 0;
  const int valid = measured && w >= 1e-6f && w <= 1e9f;
  const float z = valid ? ratio(depth_scale, w) : INVALID;
  if (GIVEN(depth)) PIXEL(depth, x, y) = z;
  if (GIVEN(uncertainty)) {
    float error = 1.0f;
    if (GIVEN(confidence)) {
      const float c = fmin(fmax(PIXEL(confidence, x, y), 1.0f / 257.0f), 256.0f / 257.0f);
      error = inverse_root(ratio(c, 1.0f - c));
    }
    PIXEL(uncertainty, x, y) = valid ? z * z * error_scale * error : INVALID;
  }
  if (!GIVEN(points)) return;
  const float across = (step * (float)x + first_x) * inverse_focal * z;
  const float down = (step * (float)y + first_y) * inverse_focal * z;
  GLOBAL float* point = &PIXEL(points, 3 * (long)x, y);
  point[0] = !valid ? INVALID : head ? z : across;
  point[1] = !valid ? INVALID : head ? half_baseline - across : down;
  point[2] = !valid ? INVALID : head ? -down : z;
}
