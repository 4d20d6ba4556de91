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

#define VALID(d) ((d) == (d))

#define WORD 32  // number of pixels of a line whose validity is stored in one word

FUNCTION int words_of(int pixels) { return (pixels + WORD - 1) / WORD; }

// Packs the validity of 32 pixels in a word, for all rows and for all columns. The words of neighbouring columns are
// adjacent in memory. A group processes a block of 32 × 32 pixels.
KERNEL(mark_valid)(IMAGE(const float, disparity), ARRAY(uint, in_rows), ARRAY(uint, in_columns)) {
  LOCAL uchar valid[WORD * (WORD + 1)];
  const int width = WIDTH(disparity), height = HEIGHT(disparity), i = local_id(0);
  const int left = group_id(0) * WORD, top = group_id(1) * WORD;
  for (int j = local_id(1); j < WORD; j += local_size(1)) {
    const int inside = left + i < width && top + j < height;
    valid[j * (WORD + 1) + i] = inside && VALID(PIXEL(disparity, left + i, top + j));
  }
  BARRIER();
  const int of_row = local_id(1) == 0, of_column = local_id(1) == 1;
  uint word = 0;
  if (of_row || of_column)
    for (int k = 0; k < WORD; ++k) word |= (uint)valid[of_row ? i * (WORD + 1) + k : k * (WORD + 1) + i] << k;
  if (of_row && top + i < height) ELEMENTS(in_rows)[(long)(top + i) * words_of(width) + group_id(0)] = word;
  if (of_column && left + i < width && top < height) ELEMENTS(in_columns)[(long)group_id(1) * width + left + i] = word;
}

// Writes 1 for each row that has a valid pixel. Each work-item processes one row.
KERNEL(find_rows)(ARRAY(const uint, in_rows), ARRAY(int, rows), int words, int height) {
  const int y = global_id(0);
  if (y >= height) return;
  uint any = 0;
  for (int i = 0; i < words; ++i) any |= ELEMENTS(in_rows)[(long)y * words + i];
  ELEMENTS(rows)[y] = any != 0;
}

// Selects the source row for each row: the row itself, else the nearest row above with a valid pixel, else the nearest
// such row below; −1 if there is none.
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

// Marks the left pixels to which a right pixel corresponds, and unites the pixels that must be filled.
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

// A region with an occluded pixel is occluded as a whole. The root of the region is marked.
KERNEL(mark_occluded)(IMAGE(const float, disparity), IMAGE(const uchar, validity), ARRAY(int, labels_in),
                      ARRAY(const uchar, met), ARRAY(uchar, occluded)) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  if (x >= width || y >= HEIGHT(disparity)) return;
  const int i = y * width + x;
  if (TO_BE_FILLED(x, y) && !ELEMENTS(met)[i]) ELEMENTS(occluded)[find_root(ELEMENTS(labels_in), i)] = 1;
}

// A line of the image, a row or a column: `count` words, which are `stride` apart.
typedef struct {
  GLOBAL const uint* words;
  long stride;
  int count;
} Line;

// Returns the distance from pixel `at` of a line to the next valid pixel in the direction of the line's end; 0 if there
// is none.
FUNCTION int steps_forward(Line line, int at) {
  int i = at / WORD;
  uint bits = line.words[i * line.stride] & (0xFFFFFFFEu << at % WORD);
  while (bits == 0 && ++i < line.count) bits = line.words[i * line.stride];
  return bits == 0 ? 0 : i * WORD + popcount((bits & (~bits + 1)) - 1) - at;
}
// Returns the corresponding distance in the direction of the line's beginning.
FUNCTION int steps_back(Line line, int at) {
  int i = at / WORD;
  uint bits = line.words[i * line.stride] & ~(0xFFFFFFFFu << at % WORD);
  while (bits == 0 && --i >= 0) bits = line.words[i * line.stride];
  for (int shift = 1; shift < WORD; shift *= 2) bits |= bits >> shift;
  return bits == 0 ? 0 : at - (i * WORD + popcount(bits) - 1);
}

FUNCTION Line row_line(ARRAY(const uint, in_rows), int width, int y) {
  const int count = words_of(width);
  const Line line = {ELEMENTS(in_rows) + (long)y * count, 1, count};
  return line;
}
FUNCTION Line column_line(ARRAY(const uint, in_columns), int width, int height, int x) {
  const Line line = {ELEMENTS(in_columns) + x, width, words_of(height)};
  return line;
}

FUNCTION float background(IMAGE(const float, disparity), ARRAY(const uint, in_rows), int x, int row) {
  const float own = PIXEL(disparity, x, row);
  if (VALID(own)) return own;
  const Line line = row_line(in_rows, in_rows_offset, WIDTH(disparity), row);
  const int left = steps_back(line, x), right = steps_forward(line, x);
  const float before = PIXEL(disparity, x - left, row), behind = PIXEL(disparity, x + right, row);
  if (left && right) return behind < before ? behind : before;
  return left ? before : behind;
}

// The distances to the first valid pixels to the left, to the right, above and below; 0 if there is no such pixel.
typedef struct {
  int x[4], y[4];
} Met;
FUNCTION Met meet(Line row, Line column, int x, int y) {
  const Met met = {{-steps_back(row, x), steps_forward(row, x), 0, 0},
                   {0, 0, -steps_back(column, y), steps_forward(column, y)}};
  return met;
}

// Returns the disparity of the nearest of these pixels, if it is at most `distance` away. In a tie, the first one wins.
FUNCTION float nearest(IMAGE(const float, disparity), Met met, int x, int y, int distance) {
  int at = -1, shortest = distance;
  for (int i = 3; i >= 0; --i) {
    const int steps = abs(met.x[i] + met.y[i]);
    if (steps == 0 || steps > shortest) continue;
    shortest = steps;
    at = i;
  }
  return at < 0 ? INVALID : PIXEL(disparity, x + met.x[at], y + met.y[at]);
}

#define AHEAD 8  // number of pixels that are loaded together along a direction, because dependent loads are slow

// Returns the first valid disparity on a diagonal from (x, y), or INVALID if there is none.
FUNCTION float look(IMAGE(const float, disparity), int x, int y, int dx, int dy) {
  const int across = dx > 0 ? WIDTH(disparity) - 1 - x : x, down = dy > 0 ? HEIGHT(disparity) - 1 - y : y;
  const int furthest = min(across, down);
  GLOBAL const float* start = &PIXEL(disparity, x, y);
  const long step = dy * disparity_layout.pitch + dx;
  for (int n = 1; n <= furthest; n += AHEAD) {
    float ahead[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) ahead[i] = start[min(n + i, furthest) * step];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (VALID(ahead[i])) return ahead[i];
  }
  return INVALID;
}

// Returns the median of the valid disparities in the box. The median is found by stepping from the lowest value
// upwards.
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

#define BOX_RADIUS 7  // largest radius of boxes in local memory; fill_gpu.cpp has the same value
#define BOX_PITCH (32 + 2 * BOX_RADIUS)
#define BOX_ROWS (8 + 2 * BOX_RADIUS)

// Returns the lower median of the `valid` values in a square of local memory. All other values in the square are NaN.
// The median is searched from the pivot upwards or downwards, one value after the other.
FUNCTION float median_from(LOCAL_POINTER const float* square, int side, int valid, float pivot) {
  int passed = 0;  // number of values up to the pivot
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

// Fills in the mode box, with a radius of at most BOX_RADIUS.
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

// A sorted list of up to eight disparities, the lowest first.
typedef struct {
  float sorted[8];
  int count;
} Ranks;
FUNCTION void rank(Ranks* ranks, float d) {
  if (!VALID(d)) return;
  int at = ranks->count++;
  for (; at > 0 && ranks->sorted[at - 1] > d; --at) ranks->sorted[at] = ranks->sorted[at - 1];
  ranks->sorted[at] = d;
}

// Returns the second lowest value, or the lower median, of the first valid disparities along the row and the column
// and, if requested, on the diagonals.
FUNCTION float ranked(IMAGE(const float, disparity), Met met, int x, int y, int diagonals, int median) {
  Ranks ranks;
  ranks.count = 0;
  for (int i = 0; i < 4; ++i)
    if (met.x[i] != 0 || met.y[i] != 0) rank(&ranks, PIXEL(disparity, x + met.x[i], y + met.y[i]));
  if (diagonals)
    for (int dy = -1; dy <= 1; dy += 2)
      for (int dx = -1; dx <= 1; dx += 2) rank(&ranks, look(disparity, disparity_layout, x, y, dx, dy));
  if (ranks.count == 0) return INVALID;
  return ranks.sorted[median ? (ranks.count - 1) / 2 : min(1, ranks.count - 1)];
}

KERNEL(fill)(IMAGE(const float, disparity), IMAGE(float, filled), IMAGE(uchar, validity), ARRAY(const uint, in_rows),
             ARRAY(const uint, in_columns), ARRAY(const int, serving), ARRAY(int, labels_in),
             ARRAY(const uchar, occluded), int mode, int distance) {
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity), height = HEIGHT(disparity);
  if (x >= width || y >= height) return;
  float value = PIXEL(disparity, x, y);
  if (TO_BE_FILLED(x, y)) {
    const Met met = meet(row_line(in_rows, in_rows_offset, width, y),
                         column_line(in_columns, in_columns_offset, width, height, x), x, y);
    if (mode == NEAREST || mode == CROSS) value = nearest(disparity, disparity_layout, met, x, y, distance);
    if (mode == SECOND_LOWEST) value = ranked(disparity, disparity_layout, met, x, y, 0, 0);
    if (mode == HIRSCHMUELLER) {
      const int is_occluded = ELEMENTS(occluded)[find_root(ELEMENTS(labels_in), y * width + x)];
      value = ranked(disparity, disparity_layout, met, x, y, 1, !is_occluded);
    }
    if (!VALID(value) && mode != CROSS && ELEMENTS(serving)[y] >= 0)
      value = background(disparity, disparity_layout, in_rows, in_rows_offset, x, ELEMENTS(serving)[y]);
    if (VALID(value)) {
      value = value == 0.0f ? 0.0f : value;  // −0 becomes +0
      PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
    } else {
      value = PIXEL(disparity, x, y);
    }
  }
  PIXEL(filled, x, y) = value;
}

// Fills in the mode box, for boxes that do not fit in local memory.
KERNEL(large_box)(IMAGE(const float, disparity), IMAGE(float, filled), IMAGE(uchar, validity), int radius) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const float own = PIXEL(disparity, x, y);
  const float value = TO_BE_FILLED(x, y) ? median_of_box(disparity, disparity_layout, x, y, radius) : INVALID;
  if (VALID(value)) PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
  PIXEL(filled, x, y) = !VALID(value) ? own : value == 0.0f ? 0.0f : value;  // −0 becomes +0
}
