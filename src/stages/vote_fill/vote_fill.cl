// Filling by votes that also consult the other view: vote_fill.hpp.
//
// A work-item fills one pixel. Adjacent work-items have adjacent pixels, so that they read the same cache lines, and no
// work-item waits for another. Each work-item has a histogram with slots. The slot of a bin is selected by the lowest
// bits of the bin. If there are more bins than slots, the bins are counted in several passes.
//
// ITEMS is the number of work-items per group; 32 are suitable for 32 KiB of local memory.
//
// instance any: ITEMS=32
// instance usual: ITEMS=32 STEP=3
// instance wide: ITEMS=64 STEP=3
#include "device/gpu/vocabulary.h"

// PoCL loses writes to local memory by functions that are not inlined.
#ifndef __CUDACC__
#undef FUNCTION
#define FUNCTION static __attribute__((always_inline))
#endif

#define NOT_FILLED 48  // masked, outside
#define REASONS 63
#define AMBIGUOUS 4
#define FILLED 64

#define SLOTS 64
#define ITEMS_OF_SLOT 32  // number of work-items whose slots are adjacent
#define LARGEST_REACH 7
#define SIDE (2 * LARGEST_REACH + 1)
#define SAMPLE_NOWHERE 0xFFFFFFFFu
#define ZERO 0x800080u  // packed value of disparity 0: 256 D + 2²³ + ½, so that a shift yields the bin
#define BIN_OF_ZERO 0x8000
#define REACH_OF_PLANE (3 * 256)

typedef struct {
  ushort colour[256];
  ushort distance[64];
} Weights;

FUNCTION uint packed(float disparity) {
  return fabs(disparity) < 32768.0f ? (uint)((int)floor(disparity * 256.0f + 0.5f) + (int)ZERO) : SAMPLE_NOWHERE;
}

// Returns whether a pixel has a disparity that is not rejected. The result is the same if another group rejects the
// pixel at the same time.
FUNCTION int votes_at(IMAGE(const float, disparity), IMAGE(const float, confidence), int x, int y, float reject) {
  if (x < 0 || y < 0 || x >= WIDTH(disparity) || y >= HEIGHT(disparity)) return 0;
  return fabs(PIXEL(disparity, x, y)) < 32768.0f && !(reject > 0.0f && PIXEL(confidence, x, y) < reject);
}

// Returns whether a pixel that may vote is near enough. Nearer rows are checked first.
FUNCTION int has_near_vote(IMAGE(const float, disparity), IMAGE(const float, confidence), int x, int y, float reject, int step,
                           int reach, int square_of_distance) {
  for (int j = 0; j <= reach; ++j)
    for (int i = 0; i <= reach && step * step * (i * i + j * j) <= square_of_distance; ++i)
      for (int corner = 0; corner < 4; ++corner) {
        const int u = corner % 2 == 0 ? x - step * i : x + step * i, v = corner < 2 ? y - step * j : y + step * j;
        if (votes_at(disparity, disparity_layout, confidence, confidence_layout, u, v, reject)) return 1;
      }
  return 0;
}

// Rejects pixels, and stores the samples that the votes need, with a margin of `margin` pixels that do not vote. Each
// group lists the pixels that must be filled, row by row. A pixel that does not vote has 255 in the highest byte of its
// colour.
KERNEL(prepare)(IMAGE(float, disparity), IMAGE(uchar, validity), IMAGE(float, confidence), IMAGE(const uchar, image),
                ARRAY(uint2, samples), ARRAY(int, holes), ARRAY(int, count), int channels, float reject, int step, int reach,
                int square_of_distance) {
  LOCAL int listed[8], place;
  const int row = local_id(1), margin = step * LARGEST_REACH, width = WIDTH(disparity), height = HEIGHT(disparity);
  const int x = global_id(0) - margin, y = global_id(1) - margin;
  if (local_id(0) == 0) listed[row] = 0;
  BARRIER();
  int own = -1;
  if (x < width + margin && y < height + margin) {
    uint2 sample;
    sample.x = 0xFF000000u;
    sample.y = SAMPLE_NOWHERE;
    if (x >= 0 && y >= 0 && x < width && y < height) {
      float d = PIXEL(disparity, x, y);
      uchar reasons = PIXEL(validity, x, y);
      if (reject > 0.0f && d == d && PIXEL(confidence, x, y) < reject) {
        d = INVALID;
        PIXEL(disparity, x, y) = d;
        reasons = (uchar)(reasons | AMBIGUOUS);
        PIXEL(validity, x, y) = reasons;
      }
      if (d != d && GIVEN(confidence)) PIXEL(confidence, x, y) = 0.0f;
      const int middle = min(1, channels - 1), last = channels - 1;
      sample.y = packed(d);
      sample.x = PIXEL(image, x * channels, y) | (uint)PIXEL(image, x * channels + middle, y) << 8 |
                 (uint)PIXEL(image, x * channels + last, y) << 16 | (sample.y == SAMPLE_NOWHERE ? 0xFF000000u : 0u);
      if (d != d && (reasons & NOT_FILLED) == 0 &&
          has_near_vote(disparity, disparity_layout, confidence, confidence_layout, x, y, reject, step, reach, square_of_distance))
        own = atomic_add(&listed[row], 1);
    }
    ELEMENTS(samples)[(long)(y + margin) * (width + 2 * margin) + x + margin] = sample;
  }
  BARRIER();
  int before = 0, all = 0;
  for (int i = 0; i < local_size(1); ++i) {
    before += i < row ? listed[i] : 0;
    all += listed[i];
  }
  if (local_id(0) == 0 && row == 0 && all > 0) place = atomic_add(ELEMENTS(count), all);
  BARRIER();
  if (own >= 0) ELEMENTS(holes)[place + before + own] = y * width + x;
}

// Returns the sum of the absolute differences of the bytes.
FUNCTION uint difference(uint a, uint b) {
#ifdef __CUDACC__
  return __vsadu4(a, b);
#else
  return abs_diff(a & 255, b & 255) + abs_diff(a >> 8 & 255, b >> 8 & 255) + abs_diff(a >> 16 & 255, b >> 16 & 255) +
         abs_diff(a >> 24, b >> 24);
#endif
}
FUNCTION uint high_product(uint a, uint b) {
#ifdef __CUDACC__
  return __umulhi(a, b);
#else
  return mul_hi(a, b);
#endif
}

// Declares the tables of a group. The colour weight is indexed by the difference of two samples. The colour weight is 0
// from 255 on, which includes samples that do not vote. The distance weight is multiplied by 65536, and is 0 beyond the
// reach.
#define TABLES LOCAL_POINTER const ushort *colour_weight, LOCAL_POINTER const uint *distance_weight

// A pixel that must be filled, and the samples around it.
typedef struct {
  GLOBAL const uint2* first_sample;
  long pitch;
  int step;
  uint colour;
  int x;
  GLOBAL const float* right;  // row of the right view
  int width;
} Hole;

FUNCTION uint weight_of(const Hole hole, LOCAL_POINTER const ushort* colour_weight, uint colour, uint distance_weight) {
  return high_product(distance_weight, colour_weight[difference(colour, hole.colour)]);
}

// The slot of a bin in a histogram. A slot holds Σ w, and Σ w · (the packed disparity) modulo 2³². The lowest 8 bits of
// a packed disparity are below its bin, and the slots of a work-item are 256 bytes apart.
#define SLOT(bin) slots[((bin) & (SLOTS - 1)) * ITEMS_OF_SLOT]
#define SLOT_OF_SAMPLE(packed) (*(LOCAL_POINTER uint2*)((LOCAL_POINTER uchar*)slots + ((packed) & (SLOTS - 1) << 8)))

FUNCTION void clear(LOCAL_POINTER uint2* slots) {
  for (int slot = 0; slot < SLOTS; ++slot) SLOT(slot).x = SLOT(slot).y = 0;
}

// Range of the packed disparities of the samples that vote, including samples with the weight 0.
typedef struct {
  uint low;
  int high;
} Range;

// Adds all samples to the slots. The samples of a row are loaded while those of the previous row are counted.
FUNCTION Range add_samples(const Hole hole, TABLES, LOCAL_POINTER uint2* slots) {
  Range range;
  range.low = SAMPLE_NOWHERE;
  range.high = 0;
  clear(slots);
  GLOBAL const uint2* row = hole.first_sample;
  uint2 samples[SIDE];
#pragma unroll
  for (int i = 0; i < SIDE; ++i) samples[i] = row[hole.step * i];
#pragma unroll 1
  for (int j = -LARGEST_REACH; j <= LARGEST_REACH; ++j) {
    if (j < LARGEST_REACH) row += hole.step * hole.pitch;
    uint space[LARGEST_REACH + 1];
#pragma unroll
    for (int i = 0; i <= LARGEST_REACH; ++i) space[i] = distance_weight[abs(j) * (LARGEST_REACH + 1) + i];
#pragma unroll
    for (int i = 0; i < SIDE; ++i) {
      const uint2 sample = samples[i];
      samples[i] = row[hole.step * i];
      const uint weight = weight_of(hole, colour_weight, sample.x, space[i < LARGEST_REACH ? LARGEST_REACH - i : i - LARGEST_REACH]);
      uint2 sums = SLOT_OF_SAMPLE(sample.y);
      sums.x += weight;
      sums.y += weight * sample.y;
      SLOT_OF_SAMPLE(sample.y) = sums;
      range.low = min(range.low, sample.y);
      range.high = max(range.high, (int)sample.y);  // packed values of samples without a disparity are negative
    }
  }
  return range;
}

// Adds the samples whose bins are in [first − 1, first + SLOTS − 2]. Returns the lowest bin of the samples after the
// second-last of these bins.
FUNCTION uint add_piece(const Hole hole, TABLES, LOCAL_POINTER uint2* slots, uint first) {
  uint next = SAMPLE_NOWHERE >> 8;
  clear(slots);
  for (int j = -LARGEST_REACH; j <= LARGEST_REACH; ++j)
#pragma unroll 1
    for (int i = -LARGEST_REACH; i <= LARGEST_REACH; ++i) {
      const long down = hole.step * (j + LARGEST_REACH) * hole.pitch;
      const uint2 sample = hole.first_sample[down + hole.step * (i + LARGEST_REACH)];
      const uint weight = weight_of(hole, colour_weight, sample.x, distance_weight[abs(j) * (LARGEST_REACH + 1) + abs(i)]);
      const uint bin = sample.y >> 8;
      if (weight != 0 && bin + 1 - first < SLOTS) {
        SLOT(bin).x += weight;
        SLOT(bin).y += weight * sample.y;
      }
      if (weight != 0 && bin >= first + SLOTS - 2) next = min(next, bin);
    }
  return next;
}

typedef struct {
  uint seen, hidden, impossible;
} Factors;

FUNCTION uint visibility(const Hole hole, const Factors factors, uint bin) {
  const int b = (int)bin - BIN_OF_ZERO, x = hole.x - b;
  float there = INVALID;
  if ((uint)x < (uint)hole.width) there = hole.right[(uint)x];
  return fabs(there - (float)b) <= 1.0f ? factors.seen : there < (float)b - 1.0f ? factors.impossible : factors.hidden;
}

typedef struct {
  uint most, all;  // votes
  uint bin;
} Winner;

// Searches for a better winner among the bins [first, last]. The slots hold these bins, the previous bin and the next
// bin.
FUNCTION Winner better_winner(const Hole hole, const Factors factors, LOCAL_POINTER const uint2* slots, uint first, uint last,
                              Winner winner) {
  const uint weight_before = SLOT(first - 1).x;
  uint before = weight_before == 0 ? 0 : weight_before * visibility(hole, factors, first - 1);
  uint here = SLOT(first).x * visibility(hole, factors, first);
  // Processes four bins at a time, so that their loads are issued together.
  for (uint start = first; start <= last; start += 4) {
    uint behind[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint bin = start + 1 + k;
      behind[k] = (bin <= last + 1 ? SLOT(bin).x : 0) * visibility(hole, factors, bin);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (start + k <= last) {
        const uint supported = 2 * here + before + behind[k];
        winner.all += here;
        if (supported > winner.most) {
          winner.most = supported;
          winner.bin = start + k;
        }
      }
      before = here;
      here = behind[k];
    }
  }
  return winner;
}

// Finds the winner. The bin of the winner and the neighbouring bins remain in their slots.
FUNCTION Winner winner_of(const Hole hole, const Factors factors, TABLES, LOCAL_POINTER uint2* slots) {
  Winner winner;
  winner.most = winner.all = winner.bin = 0;
  const Range range = add_samples(hole, colour_weight, distance_weight, slots);
  const uint last = (uint)range.high >> 8;
  uint first = range.low >> 8, end = last;
  const int at_once = last - first < SLOTS - 2;
  uint next = SAMPLE_NOWHERE >> 8;
  do {
    if (!at_once) {
      next = add_piece(hole, colour_weight, distance_weight, slots, first);
      end = min(first + SLOTS - 3, last);
    }
    winner = better_winner(hole, factors, slots, first, end, winner);
    first = next;
  } while (first <= last);
  if (!at_once) add_piece(hole, colour_weight, distance_weight, slots, winner.bin);
  return winner;
}

// Returns m, packed.
FUNCTION uint centre_of(const Hole hole, const Factors factors, LOCAL_POINTER const uint2* slots, uint winner) {
  // Moment of the packed disparity, relative to the middle of the bin two below the winner.
  ulong weight = 0, moment = 0;
  for (uint k = 0; k < 3; ++k) {
    const uint bin = winner - 1 + k, factor = visibility(hole, factors, bin);
    const uint2 sums = SLOT(bin);
    const uint above_bin = sums.y - sums.x * (bin << 8);  // below 2³²: 225 weights of 16 bits, multiplied by 8 bits
    weight += (ulong)factor * sums.x;
    moment += factor * ((ulong)sums.x * (256 * k + 128) + above_bin);
  }
  return 256 * (winner - 2) + 128 + (uint)(moment / weight);
}

// Sums of V w times 1, i, j, i², j², i j, t, i t and j t, where t is the distance of a sample above the lowest
// disparity that counts.
typedef struct {
  uint one, ii, jj;
  int i, j, ij;
  long t, it, jt;
} Moments;

// `lowest` is a packed disparity. The slots hold the factors of the samples' bins.
FUNCTION Moments moments_of(const Hole hole, TABLES, LOCAL_POINTER const uint2* slots, uint lowest) {
  Moments sums;
  sums.one = sums.ii = sums.jj = 0;
  sums.i = sums.j = sums.ij = 0;
  sums.t = sums.it = sums.jt = 0;
  GLOBAL const uint2* row = hole.first_sample;
  uint2 samples[SIDE];
#pragma unroll
  for (int i = 0; i < SIDE; ++i) samples[i] = row[hole.step * i];
#pragma unroll 1
  for (int j = -LARGEST_REACH; j <= LARGEST_REACH; ++j) {
    if (j < LARGEST_REACH) row += hole.step * hole.pitch;
    uint row_one = 0;
    int row_i = 0;
    long row_t = 0;
#pragma unroll
    for (int i = 0; i <= LARGEST_REACH; ++i) {
      const uint space = distance_weight[abs(j) * (LARGEST_REACH + 1) + i];
      uint weight[2], moment[2];  // for (i, j) and (−i, j); the products have up to 31 bits
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const int at = side == 0 ? LARGEST_REACH + i : LARGEST_REACH - i;
        const uint2 sample = samples[at];
        if (side == 1 || i > 0) samples[at] = row[hole.step * at];
        const uint t = sample.y - lowest;
        weight[side] = 0;
        if (t <= 2 * REACH_OF_PLANE && (side == 0 || i > 0))
          weight[side] = weight_of(hole, colour_weight, sample.x, space) * SLOT_OF_SAMPLE(sample.y).x;
        moment[side] = weight[side] * t;
      }
      row_one += weight[0] + weight[1];
      row_i += i * (int)(weight[0] - weight[1]);
      sums.ii += i * i * (weight[0] + weight[1]);
      row_t += (long)(moment[0] + moment[1]);
      sums.it += (long)i * (int)(moment[0] - moment[1]);
    }
    sums.one += row_one;
    sums.i += row_i;
    sums.j += j * (int)row_one;
    sums.jj += j * j * row_one;
    sums.ij += j * row_i;
    sums.t += row_t;
    sums.jt += j * row_t;
  }
  return sums;
}

FUNCTION float mean(long sum, float one) { return divide((float)sum, one); }

// Returns the value of the plane at p as a disparity.
FUNCTION float plane_at_centre(const Moments* sums, int m, float added_variance) {
  const long above = REACH_OF_PLANE;  // the difference between t and Q − m
  const float one = (float)sums->one;
  const float i = mean(sums->i, one), j = mean(sums->j, one), q = mean(sums->t - above * sums->one, one);
  const float ii = mean(sums->ii, one) - i * i + added_variance, jj = mean(sums->jj, one) - j * j + added_variance;
  const float ij = mean(sums->ij, one) - i * j, iq = mean(sums->it - above * sums->i, one) - i * q;
  const float jq = mean(sums->jt - above * sums->j, one) - j * q;
  const float determinant = ii * jj - ij * ij;
  const float slope_i = divide(jj * iq - ij * jq, determinant), slope_j = divide(ii * jq - ij * iq, determinant);
  const float at = q - slope_i * i - slope_j * j;
  return ((float)m + fmin(fmax(at, -768.0f), 768.0f)) * (1.0f / 256.0f) + 0.0f;
}

KERNEL(vote_fill)(IMAGE(float, disparity), IMAGE(uchar, validity), IMAGE(float, confidence), IMAGE(const float, right),
                  ARRAY(const uint2, samples), ARRAY(const int, holes), ARRAY(const int, count), int groups, int given_step,
                  int reach, int seen, int hidden, int impossible, float added_variance, Weights weights) {
  LOCAL uint2 all_slots[SLOTS * ITEMS];
  LOCAL ushort colour_weight[1024];
  LOCAL uint distance_weight[64];
#ifdef STEP
  const int step = STEP;
#else
  const int step = given_step;
#endif
  const int item = local_id(0), width = WIDTH(disparity), margin = step * LARGEST_REACH;
  for (int i = item; i < 1024; i += ITEMS) colour_weight[i] = i < 255 ? weights.colour[i] : (ushort)0;
  for (int i = item; i < 64; i += ITEMS)
    distance_weight[i] = i / (LARGEST_REACH + 1) <= reach && i % (LARGEST_REACH + 1) <= reach ? (uint)weights.distance[i] << 16 : 0u;
  BARRIER();

  LOCAL_POINTER uint2* const slots = all_slots + item / ITEMS_OF_SLOT * (SLOTS * ITEMS_OF_SLOT) + item % ITEMS_OF_SLOT;
  const uint last = (uint)ELEMENTS(count)[0];
  Factors factors;
  factors.seen = seen;
  factors.hidden = hidden;
  factors.impossible = impossible;
  Hole hole;
  hole.pitch = width + 2 * margin;
  hole.step = step;
  hole.width = width;
  for (uint n = group_id(0) * ITEMS + item; n < last; n += (uint)groups * ITEMS) {
    const int at = ELEMENTS(holes)[n], x = at % width, y = at / width;
    hole.x = x;
    hole.first_sample = ELEMENTS(samples) + y * hole.pitch + x;
    hole.colour = hole.first_sample[margin * hole.pitch + margin].x & 0xFFFFFF;
    hole.right = &PIXEL(right, 0, y);
    const Winner winner = winner_of(hole, factors, colour_weight, distance_weight, slots);
    if (winner.most == 0) continue;
    const uint centre = centre_of(hole, factors, slots, winner.bin), lowest = centre - REACH_OF_PLANE;
    for (uint k = 0; k < 7; ++k) {
      const uint bin = (uint)((int)lowest >> 8) + k;
      SLOT(bin).x = visibility(hole, factors, bin);
    }
    const Moments sums = moments_of(hole, colour_weight, distance_weight, slots, lowest);
    PIXEL(disparity, x, y) = plane_at_centre(&sums, (int)(centre - ZERO), added_variance);
    PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
    if (GIVEN(confidence)) PIXEL(confidence, x, y) = divide((float)winner.most, (float)(4 * winner.all));
  }
}
