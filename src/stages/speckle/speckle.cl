// Speckle filter: speckle.hpp. Regions are united over the edges between neighbours, counted at their roots, and
// removed.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "device/gpu/union_find.cl.h"

#define SPECKLE 8
#define RUN 16     // number of pixels of a row that share a start label
#define GROUP 256  // number of work-items per group, as in gpu::over()

// Assigns the same initial label to connected pixels of a run. Comparisons with NaN are false.
KERNEL(start)(IMAGE(const float, disparity), ARRAY(int, labels_in), ARRAY(int, counts_in), float difference) {
  LOCAL int linked[GROUP];  // 1 if the pixel is connected to the previous pixel
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  const int own = local_id(1) * local_size(0) + local_id(0), inside = x < width && y < HEIGHT(disparity);
  linked[own] = inside && x % RUN != 0 && fabs(PIXEL(disparity, x, y) - PIXEL(disparity, x - 1, y)) <= difference;
  BARRIER();
  if (!inside) return;
  int steps = 0;
  while (linked[own - steps]) ++steps;
  const int i = y * width + x;
  ELEMENTS(labels_in)[i] = i - steps;
  ELEMENTS(counts_in)[i] = 0;
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
    // The pixels to the left may already connect the two rows.
    const int held = left && fabs(PIXEL(disparity, x - 1, y) - PIXEL(disparity, x - 1, y - 1)) <= difference &&
                     fabs(PIXEL(disparity, x, y - 1) - PIXEL(disparity, x - 1, y - 1)) <= difference;
    if (!held) join(labels, i, i - width);
  }
}

// Adds to the count of a region, unless the region is known to be large enough.
FUNCTION void count_pixels(GLOBAL int* counts, int root, int pixels, int enough) {
  if (pixels > 0 && FRESH(int, counts + root) < enough) atomic_add(counts + root, pixels);
}

// The first pixel of a run counts the whole run. Of the first pixels with a common parent, the first one searches for
// the root.
KERNEL(count)(IMAGE(const float, disparity), ARRAY(int, labels_in), ARRAY(int, counts_in), int enough) {
  LOCAL int parents[GROUP], roots[GROUP];
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  const int own = local_id(1) * local_size(0) + local_id(0), inside = x < width && y < HEIGHT(disparity);
  GLOBAL int* labels = ELEMENTS(labels_in);
  const int valid = inside && PIXEL(disparity, x, y) == PIXEL(disparity, x, y);
  const int parent = valid ? FRESH(int, labels + (y * width + x)) : -1;
  parents[own] = parent;
  BARRIER();
  const int as_before = x % RUN != 0 && parent == parents[own - 1];
  roots[own] = valid && !as_before ? find_root(labels, parent) : -1;
  BARRIER();
  if (!inside || x % RUN != 0) return;
  int root = -1, pixels = 0;
  for (int i = own; i < own + RUN; ++i) {
    if (parents[i] < 0) continue;
    if (roots[i] >= 0 && roots[i] != root) {
      count_pixels(ELEMENTS(counts_in), root, pixels, enough);
      root = roots[i];
      pixels = 0;
    }
    ++pixels;
  }
  count_pixels(ELEMENTS(counts_in), root, pixels, enough);
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
