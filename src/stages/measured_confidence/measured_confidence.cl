// The confidence of measured pixels: measured_confidence.hpp. Each work-item processes one pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(measured_confidence)(IMAGE(const uchar, validity), IMAGE(float, confidence)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(confidence) || y >= HEIGHT(confidence)) return;
  if (PIXEL(validity, x, y) != 0) PIXEL(confidence, x, y) = 0.0f;
}
