// Filling of invalid pixels: fill.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "device/gpu/union_find.cl.h"

#define NOT_FILLED 48  // masked, outside
#define REASONS 63
#define FILLED 64
#define NEAREST 1
#define SECOND_LOWEST 2
#define HIRSCHMUELLER 3
#define CROSS 4
#define BOX 5

#define VALID(d) ((d) == (d))

// 1 for each row that has a valid pixel; a work-item a row.
KERNEL(find_rows)(IMAGE(const float, disparity), ARRAY(int, rows)) {
  const int y = global_id(0);
  if (y >= HEIGHT(disparity)) return;
  int any = 0;
  for (int x = 0; x < WIDTH(disparity) && !any; ++x) any = VALID(PIXEL(disparity, x, y));
  ELEMENTS(rows)[y] = any;
}

// For each row the one that serves it: itself, the nearest above that has a valid pixel, else below; −1 if
// there is none.
KERNEL(choose_rows)(ARRAY(const int, rows), ARRAY(int, serving), int height) {
  const int y = global_id(0);
  if (y >= height) return;
  GLOBAL const int* has = ELEMENTS(rows);
  int row = y;
  while (row >= 0 && !has[row]) --row;
  if (row < 0) {
    row = y + 1;
    while (row < height && !has[row]) ++row;
    if (row == height) row = -1;
  }
  ELEMENTS(serving)[y] = row;
}

#define TO_BE_FILLED(x, y) (!VALID(PIXEL(disparity, x, y)) && (PIXEL(validity, x, y) & NOT_FILLED) == 0)

KERNEL(start)(IMAGE(const float, disparity), ARRAY(int, labels_in), ARRAY(uchar, met), ARRAY(uchar, occluded)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const long i = (long)y * width + x;
  ELEMENTS(labels_in)[i] = (int)i;
  ELEMENTS(met)[i] = 0;
  ELEMENTS(occluded)[i] = 0;
}

// Marks the left pixels that a right pixel meets, and unites the pixels to be filled.
KERNEL(unite)(IMAGE(const float, disparity), IMAGE(const uchar, validity), IMAGE(const float, right),
              ARRAY(int, labels_in), ARRAY(uchar, met)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  GLOBAL int* labels = ELEMENTS(labels_in);
  const float whole = floor(PIXEL(right, x, y) + 0.5f);
  if (fabs(whole) < 1e9f)
    for (int at = x + (int)whole - 1; at <= x + (int)whole + 1; ++at)
      if (at >= 0 && at < width) ELEMENTS(met)[(long)y * width + at] = 1;
  if (!TO_BE_FILLED(x, y)) return;
  const int i = y * width + x;
  if (x > 0 && TO_BE_FILLED(x - 1, y)) join(labels, i, i - 1);
  if (y > 0 && TO_BE_FILLED(x, y - 1)) join(labels, i, i - width);
}

// A region with an occluded pixel is occluded; its root says so.
KERNEL(mark_occluded)(IMAGE(const float, disparity), IMAGE(const uchar, validity), ARRAY(int, labels_in),
                      ARRAY(const uchar, met), ARRAY(uchar, occluded)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const int i = y * width + x;
  if (TO_BE_FILLED(x, y) && !ELEMENTS(met)[i]) ELEMENTS(occluded)[find_root(ELEMENTS(labels_in), i)] = 1;
}

#define AHEAD 8  // pixels that are read at a time on the way: a step that waits for the one before it takes long

// The first valid disparity on the way from (x, y), and in steps how far it is; 0 steps if there is none.
FUNCTION int look(IMAGE(const float, disparity), int x, int y, int dx, int dy, float* found) {
  const int across = dx > 0 ? WIDTH(disparity) - 1 - x : x, down = dy > 0 ? HEIGHT(disparity) - 1 - y : y;
  const int furthest = dx == 0 ? down : dy == 0 ? across : min(across, down);
  GLOBAL const float* start = &PIXEL(disparity, x, y);
  const long step = dy * disparity_layout.pitch + dx;
  for (int n = 1; n <= furthest; n += AHEAD) {
    float ahead[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) ahead[i] = start[min(n + i, furthest) * step];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (VALID(ahead[i])) {
        *found = ahead[i];
        return n + i;
      }
  }
  return 0;
}

FUNCTION float background(IMAGE(const float, disparity), int x, int row) {
  const float own = PIXEL(disparity, x, row);
  if (VALID(own)) return own;
  float before = INVALID, behind = INVALID;
  const int left = look(disparity, disparity_layout, x, row, -1, 0, &before);
  const int right = look(disparity, disparity_layout, x, row, 1, 0, &behind);
  if (left && right) return behind < before ? behind : before;
  return left ? before : behind;
}

FUNCTION float nearest(IMAGE(const float, disparity), int x, int y, int distance) {
  const int last_x = WIDTH(disparity) - 1, last_y = HEIGHT(disparity) - 1;
  const int furthest = min(distance, max(max(x, last_x - x), max(y, last_y - y)));
  for (int n = 1; n <= furthest; ++n) {
    float d = INVALID;
    if (x - n >= 0) d = PIXEL(disparity, x - n, y);
    if (!VALID(d) && x + n <= last_x) d = PIXEL(disparity, x + n, y);
    if (!VALID(d) && y - n >= 0) d = PIXEL(disparity, x, y - n);
    if (!VALID(d) && y + n <= last_y) d = PIXEL(disparity, x, y + n);
    if (VALID(d)) return d;
  }
  return INVALID;
}

// The median of the valid disparities in the box: from the lowest on, one value after the other.
FUNCTION float median_of_box(IMAGE(const float, disparity), int x, int y, int radius) {
  const int left = max(x - radius, 0), right = min(x + radius, WIDTH(disparity) - 1);
  const int top = max(y - radius, 0), bottom = min(y + radius, HEIGHT(disparity) - 1);
  int valid = 0;
  for (int row = top; row <= bottom; ++row)
    for (int column = left; column <= right; ++column) valid += VALID(PIXEL(disparity, column, row));
  float value = -INFINITY;
  for (int passed = 0; 2 * passed < valid && value < INFINITY;) {
    float next = INFINITY;
    int equal = 0;
    for (int row = top; row <= bottom; ++row)
      for (int column = left; column <= right; ++column) {
        const float d = PIXEL(disparity, column, row);
        if (d > value && d < next) {
          next = d;
          equal = 0;
        }
        equal += d == next;
      }
    value = next;
    passed += equal;
  }
  return valid == 0 ? INVALID : value;
}

#define BOX_RADIUS 7  // of the boxes that local memory holds, as in fill_gpu.cpp
#define BOX_PITCH (32 + 2 * BOX_RADIUS)
#define BOX_ROWS (8 + 2 * BOX_RADIUS)

// The lower median of the `valid` values in a square of local memory, where the others are not numbers: it is below the
// pivot or above it, and found value by value from there.
FUNCTION float median_from(LOCAL_POINTER const float* square, int side, int valid, float pivot) {
  int passed = 0;  // values up to the pivot
  float below = -INFINITY, above = INFINITY;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) {
      const float d = square[j * BOX_PITCH + i];
      passed += d <= pivot;
      below = d <= pivot ? fmax(below, d) : below;
      above = d > pivot ? fmin(above, d) : above;
    }
  while (2 * passed >= valid) {
    const float value = below;
    passed = 0;
    below = -INFINITY;
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const float d = square[j * BOX_PITCH + i];
        passed += d < value;
        below = d < value ? fmax(below, d) : below;
      }
    if (2 * passed < valid) return value;
  }
  for (;;) {
    const float value = above;
    above = INFINITY;
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const float d = square[j * BOX_PITCH + i];
        passed += d == value;
        above = d > value ? fmin(above, d) : above;
      }
    if (2 * passed >= valid) return value;
  }
}

// Mode box where the radius is at most BOX_RADIUS.
KERNEL(small_box)(IMAGE(const float, disparity), IMAGE(float, filled), IMAGE(uchar, validity), int radius) {
  LOCAL float tile[BOX_ROWS * BOX_PITCH];
  const int width = WIDTH(disparity), height = HEIGHT(disparity);
  const int left = group_id(0) * local_size(0) - radius, top = group_id(1) * local_size(1) - radius;
  for (int j = local_id(1); j < local_size(1) + 2 * radius; j += local_size(1))
    for (int i = local_id(0); i < local_size(0) + 2 * radius; i += local_size(0)) {
      const int x = left + i, y = top + j, inside = x >= 0 && x < width && y >= 0 && y < height;
      tile[j * BOX_PITCH + i] = inside ? PIXEL(disparity, x, y) : INVALID;
    }
  BARRIER();
  const int x = global_id(0), y = global_id(1), side = 2 * radius + 1;
  if (x >= width || y >= height) return;
  PIXEL(filled, x, y) = PIXEL(disparity, x, y);
  if (!TO_BE_FILLED(x, y)) return;
  LOCAL_POINTER const float* square = tile + local_id(1) * BOX_PITCH + local_id(0);
  int valid = 0;
  float sum = 0.0f;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) {
      const float d = square[j * BOX_PITCH + i];
      valid += VALID(d);
      sum += VALID(d) ? d : 0.0f;
    }
  if (valid == 0) return;
  const float mean = sum / (float)valid, value = median_from(square, side, valid, VALID(mean) ? mean : 0.0f);
  PIXEL(filled, x, y) = value == 0.0f ? 0.0f : value;  // −0 becomes +0
  PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
}

// Of what is met in the directions, all 8 or the 4 along rows and columns: the second lowest, or the lower
// median.
FUNCTION float ranked(IMAGE(const float, disparity), int x, int y, int all_directions, int median) {
  float sorted[8];
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if ((dx == 0 && dy == 0) || (!all_directions && dx != 0 && dy != 0)) continue;
      float d = INVALID;
      if (!look(disparity, disparity_layout, x, y, dx, dy, &d)) continue;
      int at = count++;
      for (; at > 0 && sorted[at - 1] > d; --at) sorted[at] = sorted[at - 1];
      sorted[at] = d;
    }
  if (count == 0) return INVALID;
  return sorted[median ? (count - 1) / 2 : min(1, count - 1)];
}

KERNEL(fill)(IMAGE(const float, disparity), IMAGE(float, filled), IMAGE(uchar, validity), ARRAY(const int, serving),
             ARRAY(int, labels_in), ARRAY(const uchar, occluded), int mode, int distance, int radius) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  float value = PIXEL(disparity, x, y);
  if (TO_BE_FILLED(x, y)) {
    if (mode == NEAREST || mode == CROSS) value = nearest(disparity, disparity_layout, x, y, distance);
    if (mode == BOX) value = median_of_box(disparity, disparity_layout, x, y, radius);
    if (mode == SECOND_LOWEST) value = ranked(disparity, disparity_layout, x, y, 0, 0);
    if (mode == HIRSCHMUELLER) {
      const int is_occluded = ELEMENTS(occluded)[find_root(ELEMENTS(labels_in), y * width + x)];
      value = ranked(disparity, disparity_layout, x, y, 1, !is_occluded);
    }
    if (!VALID(value) && mode < CROSS && ELEMENTS(serving)[y] >= 0)
      value = background(disparity, disparity_layout, x, ELEMENTS(serving)[y]);
    if (VALID(value)) {
      value = value == 0.0f ? 0.0f : value;  // −0 becomes +0
      PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
    } else {
      value = PIXEL(disparity, x, y);
    }
  }
  PIXEL(filled, x, y) = value;
}
