// Checks the map of a method from outside the library: checked_map.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define NO_CANDIDATE 1
#define MASKED 16
#define FILLED 64

KERNEL(checked_map)(IMAGE(float, disparity), IMAGE(uchar, validity), IMAGE(float, confidence),
                    IMAGE(const uchar, mask), int first, int last, int from_right) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const float d = PIXEL(disparity, x, y), u = from_right ? (float)x + d : (float)x - d;
  // Comparisons with NaN are false, so each condition states what a sound value is.
  const int is_candidate = d >= (float)first - 0.5f && d <= (float)last + 0.5f;
  const int is_inside = u >= -0.5f && u <= (float)WIDTH(disparity) - 0.5f;
  int reason = !is_candidate ? NO_CANDIDATE : !is_inside ? FILLED : 0;
  if (WIDTH(mask) > 0 && PIXEL(mask, x, y) == 0) reason = MASKED;
  PIXEL(validity, x, y) = (uchar)reason;
  if (reason == NO_CANDIDATE || reason == MASKED) PIXEL(disparity, x, y) = INVALID;
  if (WIDTH(confidence) == 0) return;
  const float c = PIXEL(confidence, x, y);
  PIXEL(confidence, x, y) = reason == 0 && c > 0.0f ? (c < 1.0f ? c : 1.0f) : 0.0f;
}
