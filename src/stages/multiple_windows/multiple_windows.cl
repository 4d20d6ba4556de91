// Multiple supporting windows: multiple_windows.hpp.
//
// instance five: SUPPORTS=4
// instance nine: SUPPORTS=8
#include "device/gpu/vocabulary.h"

#if SUPPORTS == 4
#include "stages/window_mean/window_mean.cl.h"

KERNEL(average)(ARRAY(const uchar, costs), ARRAY(ushort, averages), int width, int height, int disparities, int radius,
                int band) {
  LOCAL uint columns[MOST_COLUMNS * LANES];
  window_means(columns, ELEMENTS(costs), ELEMENTS(averages), width, height, disparities, radius, radius, band, 0);
}
#endif

#define EXCHANGE(i, j)                             \
  {                                                \
    const int smaller = min(beside[i], beside[j]); \
    beside[j] = max(beside[i], beside[j]);         \
    beside[i] = smaller;                           \
  }

// Selects the windows of each cell, with one work-item per cell. Dimension 0 counts the cells of a row.
KERNEL(choose)(ARRAY(const ushort, averages), ARRAY(ushort, aggregated), int width, int height, int disparities, int radius) {
  const int i = global_id(0), x = i / disparities, k = i % disparities, y = global_id(1);
  if (x >= width || y >= height) return;
  const int left = max(0, x - radius), right = min(width - 1, x + radius);
  const int above = max(0, y - radius), below = min(height - 1, y + radius);
#define AVERAGE_AT(u, v) (int)ELEMENTS(averages)[((long)(v) * width + (u)) * disparities + k]
  int beside[SUPPORTS];
  beside[0] = AVERAGE_AT(left, above);
  beside[1] = AVERAGE_AT(right, above);
  beside[2] = AVERAGE_AT(left, below);
  beside[3] = AVERAGE_AT(right, below);
  EXCHANGE(0, 1) EXCHANGE(2, 3) EXCHANGE(0, 2) EXCHANGE(1, 3) EXCHANGE(1, 2)
#if SUPPORTS == 8
  beside[4] = AVERAGE_AT(x, above);
  beside[5] = AVERAGE_AT(left, y);
  beside[6] = AVERAGE_AT(right, y);
  beside[7] = AVERAGE_AT(x, below);
  EXCHANGE(4, 5) EXCHANGE(6, 7) EXCHANGE(4, 6) EXCHANGE(5, 7) EXCHANGE(5, 6)
  // These exchanges keep the lowest four values of two sorted groups.
  EXCHANGE(0, 7) EXCHANGE(1, 6) EXCHANGE(2, 5) EXCHANGE(3, 4)
#endif
  int sum = AVERAGE_AT(x, y);
  for (int j = 0; j < SUPPORTS / 2; ++j) sum += beside[j];
  const int count = 1 + SUPPORTS / 2;
  ELEMENTS(aggregated)[(long)y * width * disparities + i] = (ushort)((sum + count / 2) / count);
}
