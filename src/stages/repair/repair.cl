// Repair of outliers by confidence: repair.hpp. One pass.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define BEYOND_REPAIR (16 | 32)
#define REASONS 63
#define REPAIRED 128

KERNEL(repair)(int reach, float factor, float tolerance, int along_rows, IMAGE(const float, disparity),
               IMAGE(const float, confidence), IMAGE(uchar, validity), IMAGE(float, disparity_out),
               IMAGE(float, confidence_out)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity), height = HEIGHT(disparity);
  if (x >= width || y >= height) return;
  const int before = min(reach, along_rows ? x : y), behind = min(reach, along_rows ? width - 1 - x : height - 1 - y);
  const long step = along_rows ? 1 : disparity_layout.pitch, step_confidence = along_rows ? 1 : confidence_layout.pitch;
  GLOBAL const float* centre = &PIXEL(disparity, x, y);
  GLOBAL const float* trust = &PIXEL(confidence, x, y);
  const float need = *trust * factor;
  const int reasons = PIXEL(validity, x, y);

  // Bit i − 1 tells that the i-th pixel to a side is confident enough.
  uint left = 0, right = 0;
  if ((reasons & BEYOND_REPAIR) == 0) {
    for (int i = 1; i <= before; ++i) left |= (uint)(trust[-i * step_confidence] > need) << (i - 1);
    if (left != 0)
      for (int i = 1; i <= behind; ++i) right |= (uint)(trust[i * step_confidence] > need) << (i - 1);
  }
  float result = *centre, gained = *trust;
  if (left != 0 && right != 0) {
    int found = 0;
    for (int apart = 2; apart <= before + behind && !found; ++apart)
      for (int i = max(1, apart - behind); i <= min(before, apart - 1) && !found; ++i) {
        const int j = apart - i;
        if (((left >> (i - 1)) & (right >> (j - 1)) & 1) == 0) continue;
        const float a = centre[-i * step], b = centre[j * step], difference = a - b;
        if (!(difference <= tolerance && -difference <= tolerance)) continue;
        found = 1;
        result = i <= j ? a : b;
        gained = need < 1.0f ? need : 1.0f;
      }
    if (found && result != *centre) PIXEL(validity, x, y) = (uchar)((reasons & ~REASONS) | REPAIRED);
  }
  PIXEL(disparity_out, x, y) = result;
  PIXEL(confidence_out, x, y) = gained;
}

KERNEL(copy)(IMAGE(const float, from), IMAGE(float, to)) {
  const int x = global_id(0), y = global_id(1);
  if (x < WIDTH(to) && y < HEIGHT(to)) PIXEL(to, x, y) = PIXEL(from, x, y);
}
