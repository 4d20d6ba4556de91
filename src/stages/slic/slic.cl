// Superpixels: slic.hpp. A centre consists of five integers: column, row, red, green, blue.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define BLOCK 8
#define NUMBER_BITS 25

// Returns the word of a cell's segment.
FUNCTION uint word_of(int column, int row, int cell, int width) {
  return (uint)(row * cell / BLOCK * ((width + BLOCK - 1) / BLOCK) + column * cell / BLOCK) | (uint)cell << NUMBER_BITS;
}

FUNCTION int channel(uint word, int i) { return (int)(word >> 8 * i & 255u); }

// Each work-item processes one cell.
KERNEL(begin)(IMAGE(const uint, rgb), ARRAY(int, centres), int cell, int columns, int rows) {
  const int column = global_id(0), row = global_id(1);
  if (column >= columns || row >= rows) return;
  const int x = column * cell + min(cell, WIDTH(rgb) - column * cell) / 2;
  const int y = row * cell + min(cell, HEIGHT(rgb) - row * cell) / 2;
  GLOBAL int* centre = ELEMENTS(centres) + 5 * (row * columns + column);
  centre[0] = x;
  centre[1] = y;
  for (int i = 0; i < 3; ++i) centre[2 + i] = channel(PIXEL(rgb, x, y), i);
}

// Each work-item processes one pixel.
KERNEL(assign)(IMAGE(const uint, rgb), IMAGE(uint, segments), ARRAY(const int, centres), int cell, int columns, int rows,
               int compactness) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(rgb) || y >= HEIGHT(rgb)) return;
  const uint word = PIXEL(rgb, x, y);
  const int own_column = x / cell, own_row = y / cell;
  int lowest = 0x7FFFFFFF, nearest_column = 0, nearest_row = 0;
  for (int row = max(0, own_row - 1); row <= min(rows - 1, own_row + 1); ++row)
    for (int column = max(0, own_column - 1); column <= min(columns - 1, own_column + 1); ++column) {
      GLOBAL const int* centre = ELEMENTS(centres) + 5 * (row * columns + column);
      const int dx = x - centre[0], dy = y - centre[1];
      int colour = 0;
      for (int i = 0; i < 3; ++i) {
        const int difference = channel(word, i) - centre[2 + i];
        colour += difference * difference;
      }
      const int far = colour * cell * cell + (dx * dx + dy * dy) * compactness * compactness;
      if (far < lowest) {
        lowest = far;
        nearest_column = column;
        nearest_row = row;
      }
    }
  PIXEL(segments, x, y) = word_of(nearest_column, nearest_row, cell, WIDTH(rgb));
}

// Moves the centre of each cell. One group of work-items processes a cell. The pixels of the cell's segment lie in the
// 3×3 surrounding cells.
KERNEL(move)(IMAGE(const uint, rgb), IMAGE(const uint, segments), ARRAY(int, centres), int cell, int columns, int rows) {
  LOCAL int sums[6];
  const int column = group_id(0), row = min(group_id(1), rows - 1);  // groups beyond the last row repeat that row
  const int inside = group_id(1) < rows;
  const int first_x = max(0, (column - 1) * cell), last_x = min(WIDTH(rgb), (column + 2) * cell);
  const int first_y = max(0, (row - 1) * cell), last_y = min(HEIGHT(rgb), (row + 2) * cell);
  if (local_id(0) < 6 && local_id(1) == 0) sums[local_id(0)] = 0;
  BARRIER();
  int own[6] = {0, 0, 0, 0, 0, 0};
  const uint wanted = word_of(column, row, cell, WIDTH(rgb));
  for (int y = first_y + local_id(1); y < last_y; y += local_size(1))
    for (int x = first_x + local_id(0); x < last_x; x += local_size(0)) {
      if (PIXEL(segments, x, y) != wanted) continue;
      const uint word = PIXEL(rgb, x, y);
      own[0] += x - first_x;
      own[1] += y - first_y;
      for (int i = 0; i < 3; ++i) own[2 + i] += channel(word, i);
      own[5] += 1;
    }
  for (int i = 0; i < 6; ++i)
    if (own[i] != 0) atomic_add(&sums[i], own[i]);
  BARRIER();
  const int pixels = sums[5];
  if (!inside || pixels == 0 || local_id(0) >= 5 || local_id(1) > 0) return;
  const int mean = (sums[local_id(0)] + pixels / 2) / pixels;
  ELEMENTS(centres)[5 * (row * columns + column) + local_id(0)] =
      mean + (local_id(0) == 0 ? first_x : local_id(0) == 1 ? first_y : 0);
}
