// Cross-based support regions: cross.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

FUNCTION int difference(GLOBAL const uchar* a, GLOBAL const uchar* b, int channels) {
  int largest = 0;
  for (int c = 0; c < channels; ++c) largest = max(largest, (int)abs((int)a[c] - (int)b[c]));
  return largest;
}

// Returns the length of an arm of up to `most` pixels, which are `step` elements apart.
FUNCTION int arm(GLOBAL const uchar* start, long step, int most, int channels, int short_length, int colour, int strict_colour) {
  GLOBAL const uchar* before = start;
  for (int n = 1; n <= most; ++n) {
    GLOBAL const uchar* end = before + step;
    const int limit = n > short_length ? strict_colour : colour;
    if (difference(end, start, channels) >= limit || difference(end, before, channels) >= colour) return n - 1;
    before = end;
  }
  return most;
}

KERNEL(make_arms)(IMAGE(const uchar, image), IMAGE(uint, arms), int channels, int longest, int short_length, int colour, int strict_colour) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(arms), height = HEIGHT(arms);
  if (x >= width || y >= height) return;
  GLOBAL const uchar* pixel = &PIXEL(image, x * channels, y);
  const int left = arm(pixel, -channels, min(x, longest), channels, short_length, colour, strict_colour);
  const int right = arm(pixel, channels, min(width - 1 - x, longest), channels, short_length, colour, strict_colour);
  const int up = arm(pixel, -image_layout.pitch, min(y, longest), channels, short_length, colour, strict_colour);
  const int down = arm(pixel, image_layout.pitch, min(height - 1 - y, longest), channels, short_length, colour, strict_colour);
  PIXEL(arms, x, y) = (uint)left | (uint)right << 8 | (uint)up << 16 | (uint)down << 24;
}
