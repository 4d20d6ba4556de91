// Exponential step adaptive weights: esaw.hpp.
//
// instance u8: CELL=uchar UNIT=128
// instance u16: CELL=ushort UNIT=1
#include "device/gpu/vocabulary.h"
#include "stages/support_weight/support_weight.cl.h"

#if UNIT == 128

typedef struct {
  int offset[32], distance_part[32];
} Steps;

FUNCTION uint share(int weight, int sum) { return (uint)((512 * weight + sum) / (2 * sum)); }

FUNCTION uint share_word(int before, int behind) {
  const int sum = 65536 + before + behind;
  return share(before, sum) | share(behind, sum) << 8;
}

// Computes the weights of all steps, with one work-item per pixel and step.
KERNEL(weights)(IMAGE(const uint, lab), IMAGE(uint, words), Weights table, Steps steps, int colour_scale) {
  LOCAL ushort weight_of[256];
  for (int i = local_id(1) * local_size(0) + local_id(0); i < 256; i += local_size(0) * local_size(1)) weight_of[i] = table.of[i];
  BARRIER();
  const int x = global_id(0), row = global_id(1), step = row / HEIGHT(lab), y = row % HEIGHT(lab);
  if (x >= WIDTH(words) || row >= HEIGHT(words)) return;
  const int offset = steps.offset[step], distance_part = steps.distance_part[step];
  const uint p = PIXEL(lab, x, y);
#define WEIGHT(q) weight_of[exponent(colour_scale, colour_distance(p, q), distance_part)]
  const uint horizontal = share_word(WEIGHT(PIXEL(lab, max(0, x - offset), y)), WEIGHT(PIXEL(lab, min(WIDTH(lab) - 1, x + offset), y)));
  const uint vertical = share_word(WEIGHT(PIXEL(lab, x, max(0, y - offset))), WEIGHT(PIXEL(lab, x, min(HEIGHT(lab) - 1, y + offset))));
  PIXEL(words, x, row) = horizontal | vertical << 16;
}

FUNCTION int counts(int k, float sum, float wanted) {
  const float limit = ((float)k - 0.5f) * sum;
  return limit <= wanted;
}

// The estimate is corrected afterwards, and need not be rounded correctly.
FUNCTION int count(float part, float sum) {
  const float wanted = 256.0f * part;
  int n = clamp((int)(wanted / sum + 0.5f), 0, 255);
  while (n > 0 && !counts(n, sum, wanted)) --n;
  while (n < 255 && counts(n + 1, sum, wanted)) ++n;
  return n;
}

// Computes the weights of one of the two sums of a step, from the sums N of the earlier weights, which start as 1.
KERNEL(carry)(IMAGE(const uint, lab), IMAGE(uint, words), IMAGE(const float, sums), IMAGE(float, next), Weights table,
              int colour_scale, int distance_part, int offset_x, int offset_y, int first_row, int shift, int is_first) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(lab) || y >= HEIGHT(lab)) return;
  const uint p = PIXEL(lab, x, y);
  const int before_x = max(0, x - offset_x), before_y = max(0, y - offset_y);
  const int behind_x = min(WIDTH(lab) - 1, x + offset_x), behind_y = min(HEIGHT(lab) - 1, y + offset_y);
#define CARRIED_WEIGHT(q) table.of[exponent(colour_scale, colour_distance(p, q), distance_part)]
#define PART(other_x, other_y) (float)CARRIED_WEIGHT(PIXEL(lab, other_x, other_y)) * (is_first ? 1.0f : PIXEL(sums, other_x, other_y))
  const float before = PART(before_x, before_y), behind = PART(behind_x, behind_y);
  const float centre = 65536.0f * (is_first ? 1.0f : PIXEL(sums, x, y));
  const float centre_and_before = centre + before;
  const float sum = centre_and_before + behind;
  PIXEL(next, x, y) = sum / 65536.0f;
  const int n = count(before, sum);
  const uint word = (uint)(n | min(count(behind, sum), 256 - n) << 8) << shift;
  PIXEL(words, x, first_row + y) = shift == 0 ? word : PIXEL(words, x, first_row + y) | word;
}

#endif

// Returns the average over (x − offset, row), (x, row) and (x + offset, row), for cell i of a row.
FUNCTION uint horizontal_average(GLOBAL const CELL* row, long i, int before, int behind, uint word) {
  const uint left = word & 255u, right = word >> 8 & 255u;
  return (left * UNIT * row[i - before] + (256u - left - right) * UNIT * row[i] + right * UNIT * row[i + behind] + 128u) >> 8;
}

// Runs one step. A work-item walks down a column of cells in steps of `offset`, so that it computes each horizontal sum
// once. Dimension 0 counts the cells of a row. Dimension 1 counts the start rows, from each of which `chain` cells are
// visited.
KERNEL(iterate)(IMAGE(const uint, words), ARRAY(const CELL, costs), ARRAY(ushort, aggregated), int disparities, int height, int offset,
             int first_row, int starts, int chain) {
  const int width = WIDTH(words), i = global_id(0), x = i / disparities, start = global_id(1);
  if (x >= width) return;
  const long pitch = (long)width * disparities;
  const int before = min(x, offset) * disparities, behind = min(width - 1 - x, offset) * disparities;
#define ROW(y) clamp(y, 0, height - 1)
#define AVERAGE_OF_ROW(y) \
  horizontal_average(ELEMENTS(costs) + ROW(y) * pitch, i, before, behind, PIXEL(words, x, first_row + ROW(y)))

  int y = start % starts + start / starts * chain * starts;
  uint above = AVERAGE_OF_ROW(y - offset), here = AVERAGE_OF_ROW(y);
  for (int n = 0; n < chain && y < height; ++n, y += starts) {
    const uint below = AVERAGE_OF_ROW(y + offset), word = PIXEL(words, x, first_row + y);
    const uint upper = word >> 16 & 255u, lower = word >> 24;
    ELEMENTS(aggregated)[y * pitch + i] = (ushort)((upper * above + (256u - upper - lower) * here + lower * below + 128u) >> 8);
    above = here;
    here = below;
  }
}
