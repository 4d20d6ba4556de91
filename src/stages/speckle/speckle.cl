// Speckle filter: speckle.hpp. Regions are united over the edges between neighbours, counted at their roots, removed.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "device/gpu/union_find.cl.h"

#define SPECKLE 8
// Pixels of a row that a work-item takes, where it takes several.
#define RUN 16

// Pixels of a run that belong together start with one label. Comparisons with what is not a number are false.
KERNEL(start)(IMAGE(const float, disparity), ARRAY(int, labels_in), ARRAY(int, counts_in), float difference) {
  const int first = global_id(0) * RUN, y = global_id(1), width = WIDTH(disparity);
  if (first >= width || y >= HEIGHT(disparity)) return;
  float before = INVALID;
  int head = 0;
  for (int x = first; x < min(width, first + RUN); ++x) {
    const int i = y * width + x;
    const float d = PIXEL(disparity, x, y);
    if (!(fabs(d - before) <= difference)) head = i;
    ELEMENTS(labels_in)[i] = head;
    ELEMENTS(counts_in)[i] = 0;
    before = d;
  }
}

KERNEL(unite)(IMAGE(const float, disparity), ARRAY(int, labels_in), float difference) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  GLOBAL int* labels = ELEMENTS(labels_in);
  const int i = y * width + x;
  const float d = PIXEL(disparity, x, y);
  const int left = x > 0 && fabs(d - PIXEL(disparity, x - 1, y)) <= difference;
  const int above = y > 0 && fabs(d - PIXEL(disparity, x, y - 1)) <= difference;
  if (left && x % RUN == 0) join(labels, i, i - 1);
  if (above) {
    // The pixels to the left may hold the two rows together already.
    const int held = left && fabs(PIXEL(disparity, x - 1, y) - PIXEL(disparity, x - 1, y - 1)) <= difference &&
                     fabs(PIXEL(disparity, x, y - 1) - PIXEL(disparity, x - 1, y - 1)) <= difference;
    if (!held) join(labels, i, i - width);
  }
}

// A region that is known to be large enough need not be counted to the end.
FUNCTION void count_pixels(GLOBAL int* counts, int root, int pixels, int enough) {
  if (pixels > 0 && FRESH(int, counts + root) < enough) atomic_add(counts + root, pixels);
}

KERNEL(count)(IMAGE(const float, disparity), ARRAY(int, labels_in), ARRAY(int, counts_in), int enough) {
  const int first = global_id(0) * RUN, y = global_id(1), width = WIDTH(disparity);
  if (first >= width || y >= HEIGHT(disparity)) return;
  GLOBAL int* labels = ELEMENTS(labels_in);
  GLOBAL int* counts = ELEMENTS(counts_in);
  int root = -1, pixels = 0, label = -1, own = -1;
  for (int x = first; x < min(width, first + RUN); ++x) {
    const float d = PIXEL(disparity, x, y);
    if (d != d) continue;
    const int parent = FRESH(int, labels + (y * width + x));
    if (parent != label) own = find_root(labels, parent);
    label = parent;
    if (own != root) {
      count_pixels(counts, root, pixels, enough);
      root = own;
      pixels = 0;
    }
    ++pixels;
  }
  count_pixels(counts, root, pixels, enough);
}

KERNEL(remove_small)(IMAGE(float, disparity), IMAGE(uchar, validity), ARRAY(int, labels_in), ARRAY(int, counts_in),
                     int enough) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const float d = PIXEL(disparity, x, y);
  if (d != d || ELEMENTS(counts_in)[find_root(ELEMENTS(labels_in), y * width + x)] >= enough) return;
  PIXEL(disparity, x, y) = INVALID;
  PIXEL(validity, x, y) |= SPECKLE;
}
