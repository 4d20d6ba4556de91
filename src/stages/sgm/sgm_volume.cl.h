// Functions and constants of the kernels of semi-global matching from a cost volume: sgm_volume.cl and sgm_lines.cl. There
// is no include guard, because every instance of a kernel includes this file.
#undef BEYOND
// Value for disparities before the first and after the last one. The value is larger than any path cost. With a penalty
// added, it is still the bit pattern of a finite half float.
#define BEYOND 0x6000u

// Returns the path costs in the row outside the stripe, from which the path costs of a line's first pixel follow. Returns
// null if there are none or the position is outside the image.
FUNCTION GLOBAL const ushort* costs_before(IMAGE(const ushort, edge), int x, int width, int disparities, int dx) {
  if (!GIVEN(edge) || x < 0 || x >= width) return 0;
  return &PIXEL(edge, 0, (dx + 3) % 3) + (long)x * disparities;
}

FUNCTION int penalty(int difference, int p2, int p2_min, int gradient) {
  return max(p2_min, min(p2, p2 * gradient / max(1, difference)));
}
