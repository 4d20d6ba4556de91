// Planes through measured pixels: planes.hpp. A segment has 12 sums in 32 bits: q is split into its low 8 bits and the
// rest, so that the sums of its products fit. It also has 5 facts, which are the sums of its colours and the numbers of
// its pixels and points, and 5 integers of its plane: a, b, c, the weight, and whether there is a plane.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define BLOCK 8
#define NUMBER_BITS 25
#define SUMS 12
#define FACTS 5
#define PLANE 5
#define ITEMS 32
#define ACROSS 8
#define DOWN (ITEMS / ACROSS)
#define AHEAD 8
#define PARTS 4
#define SEGMENTS 4
#define AROUND 25
#define TERMS 10
#define NO_POINT (-(1 << 30))
#define ROUNDS 4
#define ENOUGH 120
#define FEWEST 30
#define FARTHEST 2
#define ONE 4096

FUNCTION uint word_of(int column, int row, int cell, int width) {
  return (uint)(row * cell / BLOCK * ((width + BLOCK - 1) / BLOCK) + column * cell / BLOCK) | (uint)cell << NUMBER_BITS;
}

FUNCTION int value_at(int a, int b, int c, int dx, int dy) { return (a * dx + b * dy + c + ONE / 2) >> 12; }

KERNEL(points)(IMAGE(const float, disparity), IMAGE(const uchar, validity), IMAGE(const float, confidence),
               ARRAY(int, points_in), float least, int min_disparity, int count) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return;
  const float d = PIXEL(disparity, x, y);
  int q = NO_POINT;
  if (PIXEL(validity, x, y) == 0 && fabs(d) < 32768.0f && (!GIVEN(confidence) || PIXEL(confidence, x, y) >= least)) {
    const int value = (int)floor(16.0f * (d - (float)min_disparity) + 0.5f);
    if (value >= -16 && value <= 16 * count) q = value;
  }
  ELEMENTS(points_in)[(long)y * WIDTH(disparity) + x] = q;
}

// Sums the points of a cell's segment that take part in a round; in the first round, also its colours and points. A row
// of ITEMS work-items processes a cell. Their sums are added in two steps, of PARTS sums and of one.
// Later rounds read the box around the segment, which the first one finds: first column and row, and the negative ends.
KERNEL(sum)(IMAGE(const uint, segments), IMAGE(const uint, rgb), ARRAY(const int, points_in),
            ARRAY(const int, planes_in), ARRAY(int, sums_out), ARRAY(int, facts_out), ARRAY(int, boxes_inout), int cell,
            int columns, int rows, int round, int tolerance) {
  LOCAL int box_of[SEGMENTS][4];
  LOCAL int sums_of[SEGMENTS][(SUMS + FACTS) * ITEMS];
  LOCAL int parts_of[SEGMENTS][(SUMS + FACTS) * PARTS];
  LOCAL_POINTER int* box = box_of[local_id(1)];
  LOCAL_POINTER int* sums = sums_of[local_id(1)];
  LOCAL_POINTER int* parts = parts_of[local_id(1)];
  const int given = group_id(1) * SEGMENTS + local_id(1), inside = given < rows;
  const int column = group_id(0), row = min(given, rows - 1);  // work-items beyond the last row repeat that row
  const int index = row * columns + column, x0 = column * cell, y0 = row * cell;
  const int item = local_id(0), values = round == 0 ? SUMS + FACTS : SUMS;
  GLOBAL const int* plane = ELEMENTS(planes_in) + PLANE * index;
  GLOBAL const int* points = ELEMENTS(points_in);
  GLOBAL int* known = ELEMENTS(boxes_inout) + 4 * index;
  const int around[4] = {max(0, x0 - cell), max(0, y0 - cell), -min(WIDTH(segments), x0 + 2 * cell),
                         -min(HEIGHT(segments), y0 + 2 * cell)};
  int own_box[4] = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
  const int first_x = round == 0 ? around[0] : known[0], first_y = round == 0 ? around[1] : known[1];
  const int end_x = -(round == 0 ? around[2] : known[2]), end_y = -(round == 0 ? around[3] : known[3]);
  if (item < 4) box[item] = 1 << 30;
  const uint wanted = word_of(column, row, cell, WIDTH(segments));
  int own[SUMS + FACTS];
  for (int i = 0; i < SUMS + FACTS; ++i) own[i] = 0;
  const int usable = round == 0 || plane[4] != 0;
  for (int y = first_y + item / ACROSS; usable && y < end_y; y += AHEAD * DOWN)
    for (int x = first_x + item % ACROSS; x < end_x; x += ACROSS) {
      uint words[AHEAD];
      int values_of[AHEAD];
      for (int k = 0; k < AHEAD; ++k) {  // the loads of some pixels, none of which waits for another
        const int there = min(y + k * DOWN, end_y - 1);
        words[k] = PIXEL(segments, x, there);
        values_of[k] = points[(long)there * WIDTH(segments) + x];
      }
      for (int k = 0; k < AHEAD; ++k) {
        const int here = y + k * DOWN, q = values_of[k], dx = x - x0, dy = here - y0;
        if (here >= end_y || words[k] != wanted) continue;
        if (round == 0) {
          const uint word = PIXEL(rgb, x, here);
          for (int i = 0; i < 3; ++i) own[SUMS + i] += (int)(word >> 8 * i & 255u);
          own[SUMS + 3] += 1;
          own[SUMS + 4] += q != NO_POINT;
          own_box[0] = min(own_box[0], x);
          own_box[1] = min(own_box[1], here);
          own_box[2] = min(own_box[2], -x - 1);
          own_box[3] = min(own_box[3], -here - 1);
        }
        if (q == NO_POINT || (round > 0 && abs(value_at(plane[0], plane[1], plane[2], dx, dy) - q) > tolerance)) continue;
        const int low = q & 255, high = q >> 8;
        const int terms[SUMS] = {1,   dx,   dy,       dx * dx,   dx * dy,  dy * dy,
                                 low, high, dx * low, dx * high, dy * low, dy * high};
        for (int i = 0; i < SUMS; ++i) own[i] += terms[i];
      }
    }
  for (int i = 0; i < SUMS + FACTS; ++i)
    if (i < values) sums[i * ITEMS + item] = own[i];
  BARRIER();
  for (int i = 0; i < 4; ++i)
    if (own_box[i] < 1 << 30) atomic_min(&box[i], own_box[i]);
  for (int i = item; i < values * PARTS; i += ITEMS) {
    int part = 0;
    for (int k = 0; k < ITEMS / PARTS; ++k) part += sums[i / PARTS * ITEMS + k * PARTS + i % PARTS];
    parts[i] = part;
  }
  BARRIER();
  if (!inside || item >= values) return;
  if (round == 0 && item < 4) known[item] = box[item];
  int total = 0;
  for (int k = 0; k < PARTS; ++k) total += parts[item * PARTS + k];
  if (item < SUMS)
    ELEMENTS(sums_out)[SUMS * index + item] = total;
  else
    ELEMENTS(facts_out)[FACTS * index + item - SUMS] = total;
}

FUNCTION long floor_div(long n, long divisor) {
  return n / divisor - (n % divisor != 0 && (n < 0) != (divisor < 0) ? 1 : 0);
}

FUNCTION long limited(long v) {
  const long most = (long)1 << 32;
  return v < -most ? -most : v > most ? most : v;
}

FUNCTION long absolute(long v) { return v < 0 ? -v : v; }

FUNCTION int mean_of(GLOBAL const int* facts, int i) { return (facts[i] + facts[3] / 2) / facts[3]; }

// Writes what another segment, (ox, oy) away, adds to the group of a segment: n, x, y, q, xx, xy, yy, xq, yq, and the
// number of all points. Zeros if it does not join.
FUNCTION void join(LOCAL_POINTER long* of, GLOBAL const int* s, GLOBAL const int* facts, GLOBAL const int* own,
                   GLOBAL const int* plane, int ox, int oy, int similar, int uses_plane) {
  for (int i = 0; i < TERMS; ++i) of[i] = 0;
  if (facts[4] == 0 || own[4] == 0) return;
  for (int i = 0; i < 3; ++i)
    if (abs(mean_of(facts, i) - mean_of(own, i)) >= similar) return;
  const long n = s[0], x = s[1] + n * ox, y = s[2] + n * oy, q = s[6] + 256 * (long)s[7];
  const long xq = s[8] + 256 * (long)s[9], yq = s[10] + 256 * (long)s[11];
  if (uses_plane && absolute(plane[0] * x + plane[1] * y + n * plane[2] - ONE * q) > 16 * ONE * n) return;
  of[0] = n;
  of[1] = x;
  of[2] = y;
  of[3] = q;
  of[4] = s[3] + 2 * ox * (long)s[1] + n * ox * ox;
  of[5] = s[4] + ox * (long)s[2] + oy * (long)s[1] + n * ox * oy;
  of[6] = s[5] + 2 * oy * (long)s[2] + n * oy * oy;
  of[7] = xq + ox * q;
  of[8] = yq + oy * q;
  of[9] = facts[4];
}

// Fits the plane of a group. Returns whether there is one.
FUNCTION int fit_plane(const long* of, GLOBAL int* plane) {
  const long n = of[0], sx = of[1], sy = of[2], sq = of[3];
  if (n < FEWEST) return 0;
  const long x = of[4] - floor_div(sx * sx, n) + 1, y = of[6] - floor_div(sy * sy, n) + 1;
  const long z = of[5] - floor_div(sx * sy, n);
  const long e = limited(of[7] - floor_div(sx * sq, n)), f = limited(of[8] - floor_div(sy * sq, n));
  long a = e * y - f * z, b = f * x - e * z, all = x * y - z * z;
  while (all >= (long)1 << 40) {
    all >>= 1;
    a >>= 1;
    b >>= 1;
  }
  if (all <= 0 || absolute(a) > 16 * all || absolute(b) > 16 * all) return 0;
  a = floor_div(ONE * a, all);
  b = floor_div(ONE * b, all);
  plane[0] = (int)a;
  plane[1] = (int)b;
  plane[2] = (int)floor_div(ONE * sq - a * sx - b * sy, n);
  return 1;
}

// Fits the planes. A row of work-items processes a segment, and each of them one of the 25 segments around it.
KERNEL(fit)(ARRAY(const int, sums_in), ARRAY(const int, facts_in), ARRAY(int, planes_out), int columns, int rows,
            int cell, int round, int similar, int weight) {
  LOCAL long terms[SEGMENTS * AROUND * TERMS];
  LOCAL long rings[SEGMENTS * (FARTHEST + 1) * TERMS];
  const int item = local_id(0), column = group_id(0), row = group_id(1) * SEGMENTS + local_id(1);
  const int index = min(row, rows - 1) * columns + column;
  GLOBAL const int* facts = ELEMENTS(facts_in);
  GLOBAL int* plane = ELEMENTS(planes_out) + PLANE * index;
  LOCAL_POINTER long* of = terms + local_id(1) * AROUND * TERMS;
  LOCAL_POINTER long* ring = rings + local_id(1) * (FARTHEST + 1) * TERMS;
  if (item < AROUND) {
    const int dx = item % (2 * FARTHEST + 1) - FARTHEST, dy = item / (2 * FARTHEST + 1) - FARTHEST;
    const int inside = row < rows && column + dx >= 0 && column + dx < columns && row + dy >= 0 && row + dy < rows;
    const int other = inside ? index + dy * columns + dx : index;
    const int uses_plane = round > 0 && other != index && plane[4] != 0;
    join(of + item * TERMS, ELEMENTS(sums_in) + SUMS * other, facts + FACTS * other, facts + FACTS * index, plane,
         dx * cell, dy * cell, inside ? similar : 0, uses_plane);
  }
  BARRIER();
  if (item < TERMS) {
    long sums[FARTHEST + 1] = {0, 0, 0};
    for (int i = 0; i < AROUND; ++i)
      sums[max(abs(i % (2 * FARTHEST + 1) - FARTHEST), abs(i / (2 * FARTHEST + 1) - FARTHEST))] += of[i * TERMS + item];
    for (int reach = 0; reach <= FARTHEST; ++reach) ring[reach * TERMS + item] = sums[reach];
  }
  BARRIER();
  if (item > 0 || row >= rows) return;
  long all[TERMS];
  for (int i = 0; i < TERMS; ++i) all[i] = ring[i];
  for (int reach = 1; reach <= FARTHEST && all[0] < ENOUGH; ++reach)
    for (int i = 0; i < TERMS; ++i) all[i] += ring[reach * TERMS + i];
  const int supported = round + 1 < ROUNDS || 2 * all[0] >= all[9];
  plane[4] = supported && fit_plane(all, plane);
  if (plane[4]) plane[3] = (int)((weight * (256 * all[0] / all[9]) + 128) / 256);
}

KERNEL(write)(IMAGE(const uint, segments), ARRAY(const int, planes_in), IMAGE(uint, planes), int columns, int cell,
              int count) {
  const int x = global_id(0), y = global_id(1);
  if (x >= WIDTH(planes) || y >= HEIGHT(planes)) return;
  const int number = (int)(PIXEL(segments, x, y) & ((1u << NUMBER_BITS) - 1));
  const int across = (WIDTH(planes) + BLOCK - 1) / BLOCK;
  const int column = (number % across * BLOCK + cell - 1) / cell, row = (number / across * BLOCK + cell - 1) / cell;
  GLOBAL const int* plane = ELEMENTS(planes_in) + PLANE * (row * columns + column);
  const int v = value_at(plane[0], plane[1], plane[2], x - column * cell, y - row * cell);
  const int seeded = plane[4] != 0 && plane[3] > 0 && v >= 0 && v <= 16 * (count - 1);
  PIXEL(planes, x, y) = seeded ? (uint)(256 * v + plane[3]) : 0u;
}
