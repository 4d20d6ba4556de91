// Means over a window, in units of 1/128. A work-item processes one disparity, for a strip of columns and a band of
// rows. The work-item keeps a running sum for each column, and one along the row. Columns are not shared between
// work-items, so that no barrier is needed.
#define LANES 64
#define STRIP 24
#define MOST_COLUMNS (STRIP + 62)

// `columns` has MOST_COLUMNS * LANES elements. With `adds`, the means are added to the existing values.
FUNCTION void window_means(LOCAL_POINTER uint* columns, GLOBAL const uchar* costs, GLOBAL ushort* averages, int width,
                           int height, int disparities, int radius_x, int radius_y, int band, int adds) {
  const int lane = local_id(0), strips = (width + STRIP - 1) / STRIP;
  const int k = group_id(0) / strips * LANES + lane;
  if (k >= disparities) return;
  const int first_x = group_id(0) % strips * STRIP, last_x = min(first_x + STRIP, width);
  const int first_y = group_id(1) * band, last_y = min(first_y + band, height);
  const int count = last_x - first_x + 2 * radius_x, area = (2 * radius_x + 1) * (2 * radius_y + 1);
  GLOBAL const uchar* cost = costs + k;
#define COLUMN(c) columns[(c) * LANES + lane]
#define COST_AT(x, y) cost[((long)clamp(y, 0, height - 1) * width + (x)) * disparities]

  for (int c = 0; c < count; ++c) {
    const int x = clamp(first_x - radius_x + c, 0, width - 1);
    uint sum = 0;
    for (int dy = -radius_y; dy <= radius_y; ++dy) sum += COST_AT(x, first_y + dy);
    COLUMN(c) = sum;
  }
  for (int y = first_y; y < last_y; ++y) {
    if (y > first_y)
      for (int c = 0; c < count; ++c) {
        const int x = clamp(first_x - radius_x + c, 0, width - 1);
        COLUMN(c) += (uint)COST_AT(x, y + radius_y) - (uint)COST_AT(x, y - radius_y - 1);
      }
    uint sum = 0;
    for (int c = 0; c < 2 * radius_x; ++c) sum += COLUMN(c);
    GLOBAL ushort* out = averages + ((long)y * width + first_x) * disparities + k;
    for (int c = 0; c < last_x - first_x; ++c) {
      sum += COLUMN(c + 2 * radius_x);
      const uint mean = (128u * sum + (uint)area / 2u) / (uint)area;
      out[(long)c * disparities] = (ushort)(adds ? out[(long)c * disparities] + mean : mean);
      sum -= COLUMN(c);
    }
  }
}
