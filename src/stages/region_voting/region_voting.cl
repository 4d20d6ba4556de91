// Iterative region voting: region_voting.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define NOT_FILLED 48  // masked, outside
#define REASONS 63
#define FILLED 64

#define NOTHING ((int)0x80000000)
#define ITEMS 64   // of a group, as in region_voting_gpu.cpp
#define BINS 1024  // that are counted at a time

// Lists the pixels that are to be filled.
KERNEL(list)(IMAGE(const float, disparity), IMAGE(const uchar, validity), ARRAY(int, gaps), ARRAY(int, count)) {
  LOCAL int listed, place;
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  const int is_first = local_id(0) == 0 && local_id(1) == 0;
  if (is_first) listed = 0;
  BARRIER();
  int own = -1;
  if (x < width && y < HEIGHT(disparity)) {
    const float d = PIXEL(disparity, x, y);
    if (d != d && (PIXEL(validity, x, y) & NOT_FILLED) == 0) own = atomic_add(&listed, 1);
  }
  BARRIER();
  if (is_first && listed > 0) place = atomic_add(ELEMENTS(count), listed);
  BARRIER();
  if (own >= 0) ELEMENTS(gaps)[place + own] = y * width + x;
}

FUNCTION int bin_of(float disparity) { return fabs(disparity) < 32768.0f ? (int)floor(disparity + 0.5f) : NOTHING; }

// A group votes for one of the listed pixels after the other; its items go through rows of the region.
KERNEL(vote)(IMAGE(const float, disparity), IMAGE(const uint, arms), ARRAY(const int, gaps), ARRAY(const int, count), ARRAY(float, voted),
             int groups, int least_votes, int share) {
  LOCAL int votes[BINS];
  LOCAL ulong winners[ITEMS];
  LOCAL int low, minus_high, all;
  const int item = local_id(0), width = WIDTH(disparity), last = ELEMENTS(count)[0];
  for (int gap = group_id(0); gap < last; gap += groups) {
    if (item == 0) {
      low = minus_high = 0x7FFFFFFF;
      all = 0;
    }
    BARRIER();
    const int at = ELEMENTS(gaps)[gap], x = at % width, y = at / width;
    const uint own = PIXEL(arms, x, y);
    const float here = PIXEL(disparity, x, y);
    const int top = y - (int)(own >> 16 & 255), bottom = here == here ? top - 1 : y + (int)(own >> 24);  // filled meanwhile: none
    for (int v = top + item; v <= bottom; v += ITEMS) {
      const uint other = PIXEL(arms, x, v);
      int lowest = 0x7FFFFFFF, highest = NOTHING, valid = 0;
      for (int u = x - (int)(other & 255); u <= x + (int)(other >> 8 & 255); ++u) {
        const int bin = bin_of(PIXEL(disparity, u, v));
        if (bin == NOTHING) continue;
        lowest = min(lowest, bin);
        highest = max(highest, bin);
        ++valid;
      }
      if (valid == 0) continue;
      atomic_min(&low, lowest);
      atomic_min(&minus_high, -highest);
      atomic_add(&all, valid);
    }
    BARRIER();
    const int high = -minus_high, enough = all > least_votes;
    uint most = 0;
    int best = 0;
    for (int first = low; enough && first <= high; first += BINS) {
      const int used = min(BINS, high - first + 1);
      for (int bin = item; bin < used; bin += ITEMS) votes[bin] = 0;
      BARRIER();
      for (int v = top + item; v <= bottom; v += ITEMS) {
        const uint other = PIXEL(arms, x, v);
        for (int u = x - (int)(other & 255); u <= x + (int)(other >> 8 & 255); ++u) {
          const int bin = bin_of(PIXEL(disparity, u, v));
          if (bin != NOTHING && bin >= first && bin - first < used) atomic_add(&votes[bin - first], 1);
        }
      }
      BARRIER();
      for (int bin = item; bin < used; bin += ITEMS) {
        if ((uint)votes[bin] <= most) continue;
        most = (uint)votes[bin];
        best = first + bin;
      }
      BARRIER();
    }
    // The most votes, of equals the lowest disparity.
    winners[item] = (ulong)most << 32 | (uint)(0x40000000 - best);
    for (int apart = ITEMS / 2; apart > 0; apart /= 2) {
      BARRIER();
      if (item < apart && winners[item + apart] > winners[item]) winners[item] = winners[item + apart];
    }
    BARRIER();
    if (item == 0) {
      most = (uint)(winners[0] >> 32);
      best = 0x40000000 - (int)(uint)winners[0];
      ELEMENTS(voted)[gap] = enough && 100 * (long)most > (long)share * all ? (float)best : INVALID;
    }
    BARRIER();
  }
}

KERNEL(fill_voted)(IMAGE(float, disparity), IMAGE(uchar, validity), ARRAY(const int, gaps), ARRAY(const int, count), ARRAY(const float, voted),
                   int items) {
  const int width = WIDTH(disparity), last = ELEMENTS(count)[0];
  for (int gap = global_id(0); gap < last; gap += items) {
    const float value = ELEMENTS(voted)[gap];
    if (value != value) continue;
    const int x = ELEMENTS(gaps)[gap] % width, y = ELEMENTS(gaps)[gap] / width;
    PIXEL(disparity, x, y) = value;
    PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
  }
}
