// Learned features: learned_features.hpp. Values of a pixel's channels lie side by side.
//
// instance any:
#include "device/gpu/vocabulary.h"

// The image with what replicates around it, less 128.
KERNEL(surround)(IMAGE(const uchar, grey), IMAGE(signed char, plane), int border) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(plane) || y >= HEIGHT(plane)) return;
  const int from_x = clamp(x - border, 0, WIDTH(grey) - 1), from_y = clamp(y - border, 0, HEIGHT(grey) - 1);
  PIXEL(plane, x, y) = (signed char)(PIXEL(grey, from_x, from_y) - 128);
}

// One output of one pixel, whose window begins at the same place of the layer before. `weights` are the biases and then
// [in][3][3][out].
KERNEL(layer)(IMAGE(const signed char, before), ARRAY(const int, weights), IMAGE(signed char, after), int in, int out,
              int shift, int low) {
  const int x = global_id(0) / out, o = global_id(0) % out, y = global_id(1);
  if (x >= WIDTH(after) || y >= HEIGHT(after)) return;
  GLOBAL const int* biases = ELEMENTS(weights);
  int sum = biases[o];
  for (int i = 0; i < in; ++i)
    for (int tap = 0; tap < 9; ++tap)
      sum += biases[out + (9 * i + tap) * out + o] * PIXEL(before, (long)(x + tap % 3) * in + i, y + tap / 3);
  PIXEL(after, (long)x * out + o, y) = (signed char)clamp((sum + (1 << (shift - 1))) >> shift, low, 127);
}
