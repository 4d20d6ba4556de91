// Iterative region voting: region_voting.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "device/gpu/path_state.cl.h"  // group_min

#define NOT_FILLED 48  // masked, outside
#define REASONS 63
#define FILLED 64

#define NOTHING ((int)0x80000000)
#define ITEMS 64     // work-items per group, as in region_voting_gpu.cpp
#define ACROSS 32    // number of work-items that process a row together
#define BINS 1024    // number of bins that are counted at a time
#define MOST_ROWS 255  // per region
#define BEYOND_BINS 65536

FUNCTION int bin_of(float disparity) { return fabs(disparity) < 32768.0f ? (int)floor(disparity + 0.5f) : NOTHING; }

// The elements of `found`, which are initially 0: the number of listed pixels, the lowest bin, and the negated highest
// bin. BEYOND_BINS is subtracted from both bins.
#define COUNT_OF(found) (found)[0]
#define LOWEST_OF(found) ((found)[1] + BEYOND_BINS)
#define HIGHEST_OF(found) (-((found)[2] + BEYOND_BINS))

// Lists the pixels that must be filled, and finds the range of their bins.
KERNEL(list)(IMAGE(const float, disparity), IMAGE(const uchar, validity), ARRAY(int, gaps), ARRAY(int, found)) {
  LOCAL int listed, place, low, minus_high;
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  const int is_first = local_id(0) == 0 && local_id(1) == 0;
  if (is_first) listed = low = minus_high = 0;
  BARRIER();
  int own = -1, bin = NOTHING;
  if (x < width && y < HEIGHT(disparity)) {
    const float d = PIXEL(disparity, x, y);
    bin = bin_of(d);
    if (d != d && (PIXEL(validity, x, y) & NOT_FILLED) == 0) own = atomic_add(&listed, 1);
  }
  group_min(&low, bin == NOTHING ? 0 : bin - BEYOND_BINS);
  group_min(&minus_high, bin == NOTHING ? 0 : -bin - BEYOND_BINS);
  BARRIER();
  if (is_first) {
    if (listed > 0) place = atomic_add(&COUNT_OF(ELEMENTS(found)), listed);
    atomic_min(ELEMENTS(found) + 1, low);
    atomic_min(ELEMENTS(found) + 2, minus_high);
  }
  BARRIER();
  if (own >= 0) ELEMENTS(gaps)[place + own] = y * width + x;
}

// A group computes the votes for the listed pixels, one after the other. A row of the region is
// processed by ACROSS of its work-items.
KERNEL(vote)(IMAGE(const float, disparity), IMAGE(const uint, arms), ARRAY(const int, gaps), ARRAY(const int, found), ARRAY(float, voted),
             int groups, int least_votes, int share) {
  LOCAL int votes[BINS];
  LOCAL ulong winners[ITEMS];
  LOCAL uint row_arms[MOST_ROWS];
  LOCAL int all;
  const int item = local_id(0), width = WIDTH(disparity), last = COUNT_OF(ELEMENTS(found));
  const int low = LOWEST_OF(ELEMENTS(found)), high = HIGHEST_OF(ELEMENTS(found));
  for (int gap = group_id(0); gap < last; gap += groups) {
    const int at = ELEMENTS(gaps)[gap], x = at % width, y = at / width;
    const float here = PIXEL(disparity, x, y);
    const uint own = PIXEL(arms, x, y);
    // There are no rows to process if the pixel was filled in the meantime.
    const int top = y - (int)(own >> 16 & 255), rows = here == here ? 0 : y + (int)(own >> 24) - top + 1;
    for (int row = item; row < rows; row += ITEMS) row_arms[row] = PIXEL(arms, x, top + row);
    if (item == 0) all = 0;
    BARRIER();
    uint most = 0;
    int best = 0, mine = 0;
    for (int first = rows > 0 ? low : high + 1; first <= high; first += BINS) {
      const int used = min(BINS, high - first + 1);
      for (int bin = item; bin < used; bin += ITEMS) votes[bin] = 0;
      BARRIER();
      for (int row = item / ACROSS; row < rows; row += ITEMS / ACROSS) {
        const int right = x + (int)(row_arms[row] >> 8 & 255);
        for (int u = x - (int)(row_arms[row] & 255) + item % ACROSS; u <= right; u += ACROSS) {
          const uint bin = (uint)bin_of(PIXEL(disparity, u, top + row)) - (uint)first;
          if (bin < (uint)used) atomic_add(&votes[bin], 1);
        }
      }
      BARRIER();
      for (int bin = item; bin < used; bin += ITEMS) {
        mine += votes[bin];
        if ((uint)votes[bin] <= most) continue;
        most = (uint)votes[bin];
        best = first + bin;
      }
      BARRIER();
    }
    if (mine > 0) atomic_add(&all, mine);
    // The bin with the most votes wins, and in a tie the lowest disparity.
    winners[item] = (ulong)most << 32 | (uint)(0x40000000 - best);
    for (int apart = ITEMS / 2; apart > 0; apart /= 2) {
      BARRIER();
      if (item < apart && winners[item + apart] > winners[item]) winners[item] = winners[item + apart];
    }
    BARRIER();
    if (item == 0) {
      most = (uint)(winners[0] >> 32);
      best = 0x40000000 - (int)(uint)winners[0];
      ELEMENTS(voted)[gap] = all > least_votes && 100 * (long)most > (long)share * all ? (float)best : INVALID;
    }
    BARRIER();
  }
}

KERNEL(fill_voted)(IMAGE(float, disparity), IMAGE(uchar, validity), ARRAY(const int, gaps), ARRAY(const int, found), ARRAY(const float, voted),
                   int items) {
  const int width = WIDTH(disparity), last = COUNT_OF(ELEMENTS(found));
  for (int gap = global_id(0); gap < last; gap += items) {
    const float value = ELEMENTS(voted)[gap];
    if (value != value) continue;
    const int x = ELEMENTS(gaps)[gap] % width, y = ELEMENTS(gaps)[gap] / width;
    PIXEL(disparity, x, y) = value;
    PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
  }
}
