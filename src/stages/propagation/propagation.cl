// Propagation of reliable disparities: propagation.hpp. Lines are the columns or the rows, and i is the index along a
// line.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/cost/colours.cl.h"

#define STAYS (16 | 32)
#define REASONS 63
#define REPAIRED 128
#define RADIUS 5  // radius of the mode filter
#define WINDOW (2 * RADIUS + 1)

#define AT(image, i, line) PIXEL(image, columns ? (line) : (i), columns ? (i) : (line))
#define LENGTH(image) (columns ? HEIGHT(image) : WIDTH(image))
#define LINES(image) (columns ? WIDTH(image) : HEIGHT(image))

FUNCTION float whole(float d) { return floor(d + 0.5f); }

// Changes a pixel of a disparity map, if the pixel may change.
#define CHANGE(to, i, line, d)                                                             \
  do {                                                                                     \
    if ((AT(validity, i, line) & STAYS) == 0) {                                            \
      AT(to, i, line) = d;                                                                 \
      AT(validity, i, line) = (uchar)((AT(validity, i, line) & ~REASONS) | REPAIRED);      \
    }                                                                                      \
  } while (0)

// Each work-item processes one column.
KERNEL(remove_surrounded)(IMAGE(float, disparity), IMAGE(uchar, validity)) {
  const int line = global_id(0), columns = 1;
  if (line >= WIDTH(disparity)) return;
  for (int i = 1; i + 1 < HEIGHT(disparity); ++i) {
    const float above = AT(disparity, i - 1, line);
    if (whole(above) == whole(AT(disparity, i + 1, line)) && whole(above) != whole(AT(disparity, i, line)))
      CHANGE(disparity, i, line, above);
  }
}

// Writes 1 if three pixels of a line vary.
KERNEL(find_variations)(int variation, int columns, IMAGE(const uint, colours), IMAGE(float, flags)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(colours) || y >= HEIGHT(colours)) return;
  const int i = columns ? y : x, line = columns ? x : y;
  int varies = 0;
  for (int first = max(i - 2, 0); first <= i && first + 2 < LENGTH(colours); ++first) {
    const uint a = AT(colours, first, line), b = AT(colours, first + 1, line), c = AT(colours, first + 2, line);
    varies |= (int)colour_difference(a, b) >= variation || (int)colour_difference(b, c) >= variation ||
              (int)colour_difference(a, c) >= variation;
  }
  PIXEL(flags, x, y) = varies ? 1.0f : 0.0f;
}

// Keeps only variations of which at least three are adjacent across the lines.
KERNEL(keep_gradients)(int columns, IMAGE(const float, flags), IMAGE(float, gradients)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(flags) || y >= HEIGHT(flags)) return;
  const int i = columns ? y : x, line = columns ? x : y;
  int run = 0, kept = 0;  // counts within the five surrounding lines
  for (int other = max(line - 2, 0); other <= min(line + 2, LINES(flags) - 1); ++other) {
    run = AT(flags, i, other) != 0.0f ? run + 1 : 0;
    kept |= run >= 3;
  }
  PIXEL(gradients, x, y) = kept && PIXEL(flags, x, y) != 0.0f ? 1.0f : 0.0f;
}

// Each work-item processes one line.
KERNEL(spread)(int slight, int moderate, int columns, IMAGE(float, disparity), IMAGE(const float, gradients),
               IMAGE(float, reliability), IMAGE(uchar, validity)) {
  const int line = global_id(0), length = LENGTH(disparity);
  if (line >= LINES(disparity)) return;
  for (int i = 0; i < length;) {
    const float value = whole(AT(disparity, i, line));
    int end = i + 1;
    while (end < length && whole(AT(disparity, end, line)) == value) ++end;
    const float run = value == value ? (float)(end - i) : 0.0f;
    for (; i < end; ++i) AT(reliability, i, line) = run;
  }
  for (int i = 0; i < length; ++i) {
    if (AT(reliability, i, line) < (float)moderate) continue;
    const float value = whole(AT(disparity, i, line));
    int last = i;
    while (last + 1 < length && whole(AT(disparity, last + 1, line)) == value &&
           AT(reliability, last + 1, line) >= (float)moderate)
      ++last;
    for (int step = -1; step <= 1; step += 2) {
      const int from = step < 0 ? i : last;
      const float d = AT(disparity, from, line);
      for (int j = from + step; j >= 0 && j < length && AT(gradients, j, line) == 0.0f; j += step) {
        if ((AT(validity, j, line) & STAYS) != 0) continue;
        const float other = whole(AT(disparity, j, line));
        if (AT(reliability, j, line) >= (float)slight && other != value && other < value + 2.0f) break;
        if (other != value) CHANGE(disparity, j, line, d);
        AT(reliability, j, line) = (float)moderate;
      }
    }
    i = last;
  }
}

KERNEL(filter_modes)(int columns, IMAGE(const float, from), IMAGE(float, to), IMAGE(uchar, validity)) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(from) || y >= HEIGHT(from)) return;
  const int i = columns ? y : x, line = columns ? x : y;
  const float here = PIXEL(from, x, y), own = whole(here);
  PIXEL(to, x, y) = here;
  if (own != own) return;
  float values[WINDOW];
  for (int j = 0; j < WINDOW; ++j) {
    const int at = i + j - RADIUS;
    values[j] = at >= 0 && at < LENGTH(from) ? whole(AT(from, at, line)) : INVALID;
  }
  int most = 0, around = 0;
  float mode = own;
  for (int j = 0; j < WINDOW; ++j) {
    int votes = 0;
    for (int k = 0; k < WINDOW; ++k) votes += values[k] == values[j];
    if (votes > most || (votes == most && values[j] < mode)) {
      most = votes;
      mode = values[j];
    }
    around += fabs(values[j] - own) <= 1.0f;
  }
  if (most > around && mode != here) CHANGE(to, i, line, mode);
}
