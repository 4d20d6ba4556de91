// Black regions at the border: black_border.hpp. Regions are united over the edges between neighbours. The label 0
// stands for everything without data, and label i + 1 for pixel i; a region that is without data joins label 0.
//
// instance u8: PIXEL_TYPE=uchar
// instance u16: PIXEL_TYPE=ushort
// instance f32: PIXEL_TYPE=float
#include "device/gpu/vocabulary.h"
#include "device/gpu/union_find.cl.h"

#define RUN 16     // number of pixels of a row that share a start label
#define GROUP 256  // number of work-items per group, as in gpu::over()
#define FEWEST 64
#define BRIGHT -1  // label of a pixel that is not black

FUNCTION int is_black(GLOBAL const PIXEL_TYPE* pixel, int colours, float level) {
  int black = 1;
  for (int c = 0; c < colours; ++c) black &= (float)pixel[c] <= level;
  return black;
}

// Assigns the same initial label to the black pixels of a run, and copies the given mask.
KERNEL(start)(IMAGE(const PIXEL_TYPE, image), IMAGE(const uchar, mask), IMAGE(uchar, usable), ARRAY(int, labels_in),
              int channels, float level, int first_x, int first_y) {
  LOCAL int linked[GROUP];  // 1 if the pixel and the previous pixel of the run are black
  const int x = global_id(0), y = global_id(1), width = WIDTH(image);
  const int own = local_id(1) * local_size(0) + local_id(0), inside = x < width && y < HEIGHT(image);
  const int black = inside && is_black(&PIXEL(image, (long)x * channels, y), min(channels, 3), level);
  linked[own] = black;
  BARRIER();
  int steps = 0;
  while (black && (x - steps) % RUN != 0 && linked[own - steps - 1]) ++steps;
  if (!inside) return;
  GLOBAL int* labels = ELEMENTS(labels_in);
  const int label = y * width + x + 1;
  labels[label] = black ? label - steps : BRIGHT;
  if (label == 1) labels[0] = 0;
  const int column = x - first_x, row = y - first_y;
  if (column < 0 || row < 0 || column >= WIDTH(usable) || row >= HEIGHT(usable)) return;
  PIXEL(usable, column, row) = !GIVEN(mask) || PIXEL(mask, column, row) != 0 ? 255 : 0;
}

FUNCTION int is_labelled(GLOBAL int* labels, int width, int height, int x, int y) {
  return x >= 0 && y >= 0 && x < width && y < height && FRESH(int, labels + (y * width + x + 1)) != BRIGHT;
}

// Returns whether the pixel is the first one of a run of black pixels along the border. The other pixels of the run
// belong to the same region.
FUNCTION int starts_at_border(GLOBAL int* labels, int width, int height, int x, int y) {
  if ((y == 0 || y == height - 1) && x > 0) return !is_labelled(labels, width, height, x - 1, y);
  if (x == 0 || x == width - 1) return !is_labelled(labels, width, height, x, y - 1);
  return 0;
}

// Returns whether the FEWEST pixels from (x, y) in a direction are black, which most large regions fulfil. The loads do
// not depend on each other.
FUNCTION int is_long(GLOBAL int* labels, int width, int height, int x, int y, int dx, int dy) {
  int black = 1;
  for (int i = 1; i < FEWEST; ++i) black &= is_labelled(labels, width, height, x + i * dx, y + i * dy);
  return black;
}

// Returns whether the region of a black pixel has at least FEWEST pixels; visits no more than that.
FUNCTION int is_large(GLOBAL int* labels, int width, int height, int x, int y) {
  if (is_long(labels, width, height, x, y, 1, 0) || is_long(labels, width, height, x, y, 0, 1)) return 1;
  int found[FEWEST];
  int count = 1;
  found[0] = y * width + x;
  for (int i = 0; i < count; ++i)
    for (int side = 0; side < 4; ++side) {
      const int u = found[i] % width + (side == 0) - (side == 1), v = found[i] / width + (side == 2) - (side == 3);
      if (!is_labelled(labels, width, height, u, v)) continue;
      int known = 0;
      while (known < count && found[known] != v * width + u) ++known;
      if (known < count) continue;
      found[count++] = v * width + u;
      if (count == FEWEST) return 1;
    }
  return 0;
}

KERNEL(unite)(ARRAY(int, labels_in), int width, int height) {
  const int x = global_id(0), y = global_id(1);
  if (x >= width || y >= height) return;
  GLOBAL int* labels = ELEMENTS(labels_in);
  if (!is_labelled(labels, width, height, x, y)) return;
  const int label = y * width + x + 1, left = is_labelled(labels, width, height, x - 1, y);
  if (left && x % RUN == 0) join(labels, label, label - 1);
  if (is_labelled(labels, width, height, x, y - 1)) {
    // The pixels to the left may already connect the two rows.
    const int held = left && is_labelled(labels, width, height, x - 1, y - 1);
    if (!held) join(labels, label, label - width);
  }
  if (starts_at_border(labels, width, height, x, y) && is_large(labels, width, height, x, y)) join(labels, label, 0);
}

KERNEL(exclude)(IMAGE(uchar, usable), ARRAY(int, labels_in), int width, int first_x, int first_y) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(usable) || y >= HEIGHT(usable)) return;
  GLOBAL int* labels = ELEMENTS(labels_in);
  const int label = (y + first_y) * width + x + first_x + 1;
  if (FRESH(int, labels + label) != BRIGHT && find_root(labels, label) == 0) PIXEL(usable, x, y) = 0;
}
