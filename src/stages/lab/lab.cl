// L*a*b*: lab.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

typedef struct {
  ushort of[256];
} Transfer;

// The estimate is off by at most one, and the comparisons correct it, whatever the accuracy of cbrt.
FUNCTION int root(uint sum) {
  const uint t = (sum >> 16) + (sum >> 31);
  if (t <= 580u) return (int)((31896u * t + 37025900u) >> 16);
  const ulong cube = (ulong)t << 20;
  ulong r = (ulong)cbrt((float)cube);
  r -= (ulong)(r * r * r > cube);
  r += (ulong)((r + 1) * (r + 1) * (r + 1) <= cube);
  return (int)r;
}

KERNEL(lab)(IMAGE(const uint, rgb), IMAGE(uint, lab), Transfer transfer) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(lab) || y >= HEIGHT(lab)) return;
  const uint word = PIXEL(rgb, x, y);
  const uint red = transfer.of[word & 255u], green = transfer.of[word >> 8 & 255u], blue = transfer.of[word >> 16 & 255u];
  const int fx = root(28440u * red + 24655u * green + 12441u * blue + 32768u);
  const int fy = root(13938u * red + 46868u * green + 4730u * blue + 32768u);
  const int fz = root(1164u * red + 7174u * green + 57198u * blue + 32768u);
  const int l = (464 * fy - 64 * 4096 + 2048) >> 12;
  const int a = 512 + ((2000 * (fx - fy) + 2048) >> 12);
  const int b = 512 + ((800 * (fy - fz) + 2048) >> 12);
  PIXEL(lab, x, y) = (uint)(l | a << 10 | b << 20);
}
