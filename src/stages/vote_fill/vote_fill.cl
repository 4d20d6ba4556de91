// Filling by a vote that asks the other view: vote_fill.hpp.
//
// instance any:
#include "device/gpu/vocabulary.h"

#define NOT_FILLED 48  // masked, outside
#define REASONS 63
#define AMBIGUOUS 4
#define FILLED 64

#define NOTHING ((int)0x80000000)
#define ITEMS 64  // of a group, as in vote_fill_gpu.cpp
#define LARGEST_REACH 7
#define MOST_SAMPLES 225
#define BINS 510  // that are counted at a time
#define SUMS 9

typedef struct {
  ushort colour[256];
  ushort distance[64];
} Weights;

FUNCTION int in_256ths(float disparity) { return fabs(disparity) < 32768.0f ? (int)floor(disparity * 256.0f + 0.5f) : NOTHING; }
FUNCTION int whole(int q) { return (q + 128) >> 8; }

// Rejects, writes down what the votes are made of, and lists the pixels that are to be filled.
KERNEL(prepare)(IMAGE(float, disparity), IMAGE(uchar, validity), IMAGE(float, confidence), IMAGE(const uchar, image),
                ARRAY(int, q), ARRAY(uint, colours), ARRAY(int, holes), ARRAY(int, count), int channels, float reject) {
  LOCAL int listed, place;
  const int x = global_id(0), y = global_id(1), width = WIDTH(disparity);
  const int inside = x < width && y < HEIGHT(disparity);
  const int is_first = local_id(0) == 0 && local_id(1) == 0;
  if (is_first) listed = 0;
  BARRIER();
  int own = -1;
  if (inside) {
    const long i = (long)y * width + x;
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
    ELEMENTS(q)[i] = in_256ths(d);
    ELEMENTS(colours)[i] = PIXEL(image, x * channels, y) | (uint)PIXEL(image, x * channels + middle, y) << 8 |
                           (uint)PIXEL(image, x * channels + last, y) << 16;
    if (d != d && (reasons & NOT_FILLED) == 0) own = atomic_add(&listed, 1);
  }
  BARRIER();
  if (is_first && listed > 0) place = atomic_add(ELEMENTS(count), listed);
  BARRIER();
  if (own >= 0) ELEMENTS(holes)[place + own] = y * width + x;
}

FUNCTION int difference(uint a, uint b) {
  return abs((int)(a & 255) - (int)(b & 255)) + abs((int)(a >> 8 & 255) - (int)(b >> 8 & 255)) + abs((int)(a >> 16) - (int)(b >> 16));
}

FUNCTION int visibility(IMAGE(const float, right), int x, int y, int b, int seen, int hidden, int impossible) {
  if (b > x || x - b >= WIDTH(right)) return hidden;
  const float there = PIXEL(right, x - b, y);
  return fabs(there - (float)b) <= 1.0f ? seen : there < (float)b - 1.0f ? impossible : hidden;
}

// Adds up, over the items, `rows` sums at a time; the results are those of item 0.
FUNCTION void add_up(LOCAL_POINTER long* sums, int rows, int item) {
  for (int apart = ITEMS / 2; apart > 0; apart /= 2) {
    BARRIER();
    for (int i = item; i < rows * apart; i += ITEMS) sums[i / apart * ITEMS + i % apart] += sums[i / apart * ITEMS + i % apart + apart];
  }
  BARRIER();
}

FUNCTION float mean(long sum, float one) { return divide((float)sum, one); }

FUNCTION float plane_at_centre(LOCAL_POINTER const long* sums, int m, float added_variance) {
  const float one = (float)sums[0];
  const float i = mean(sums[ITEMS], one), j = mean(sums[2 * ITEMS], one), q = mean(sums[6 * ITEMS], one);
  const float ii = mean(sums[3 * ITEMS], one) - i * i + added_variance, jj = mean(sums[4 * ITEMS], one) - j * j + added_variance;
  const float ij = mean(sums[5 * ITEMS], one) - i * j, iq = mean(sums[7 * ITEMS], one) - i * q, jq = mean(sums[8 * ITEMS], one) - j * q;
  const float determinant = ii * jj - ij * ij;
  const float slope_i = divide(jj * iq - ij * jq, determinant), slope_j = divide(ii * jq - ij * iq, determinant);
  const float at = q - slope_i * i - slope_j * j;
  return ((float)m + fmin(fmax(at, -768.0f), 768.0f)) * (1.0f / 256.0f) + 0.0f;
}

// A group fills one of the listed pixels after the other; its items share the samples, the bins and the sums.
KERNEL(vote_fill)(IMAGE(float, disparity), IMAGE(uchar, validity), IMAGE(float, confidence), IMAGE(const float, right),
                  ARRAY(const int, q), ARRAY(const uint, colours), ARRAY(const int, holes), ARRAY(const int, count),
                  int groups, int step, int reach, int square_of_distance, int seen, int hidden, int impossible,
                  float added_variance, Weights weights) {
  LOCAL uint colour[256], distance[64];
  LOCAL uint weight_of[MOST_SAMPLES];
  LOCAL int q_of[MOST_SAMPLES];
  LOCAL int votes[BINS + 2];
  LOCAL ulong winners[ITEMS];
  LOCAL long sums[SUMS * ITEMS];
  LOCAL int low, minus_high, nearest, all;
  const int item = local_id(0), width = WIDTH(disparity), height = HEIGHT(disparity);
  const int side = 2 * reach + 1, samples = side * side;
  for (int i = item; i < 256; i += ITEMS) colour[i] = weights.colour[i];
  for (int i = item; i < 64; i += ITEMS) distance[i] = weights.distance[i];

  const int last = ELEMENTS(count)[0];
  for (int hole = group_id(0); hole < last; hole += groups) {
    if (item == 0) {
      low = nearest = 0x7FFFFFFF;
      minus_high = 0x7FFFFFFF;
      all = 0;
    }
    BARRIER();
    const int at = ELEMENTS(holes)[hole], x = at % width, y = at / width;
    const uint own = ELEMENTS(colours)[at];
    for (int n = item; n < samples; n += ITEMS) {
      const int i = n % side - reach, j = n / side - reach, u = x + step * i, v = y + step * j;
      const int inside = u >= 0 && v >= 0 && u < width && v < height;
      const int value = inside ? ELEMENTS(q)[(long)v * width + u] : NOTHING;
      uint weight = 0;
      if (value != NOTHING) {
        weight = distance[abs(j) * (LARGEST_REACH + 1) + abs(i)] * colour[min(difference(own, ELEMENTS(colours)[(long)v * width + u]), 255)] >> 16;
        atomic_min(&nearest, step * step * (i * i + j * j));
      }
      if (weight != 0) {
        atomic_min(&low, whole(value));
        atomic_min(&minus_high, -whole(value));
      }
      weight_of[n] = weight;
      q_of[n] = value;
    }
    BARRIER();

    const int may_vote = low != 0x7FFFFFFF && nearest <= square_of_distance;
    const int high = -minus_high;
    uint most = 0;
    int best = 0;
    for (int first = low; may_vote && first <= high; first += BINS) {
      const int used = min(BINS, high - first + 1);
      for (int bin = item; bin < used + 2; bin += ITEMS) votes[bin] = 0;
      BARRIER();
      for (int n = item; n < samples; n += ITEMS) {
        const int bin = whole(q_of[n]) - first + 1;
        if (weight_of[n] != 0 && bin >= 0 && bin < used + 2) atomic_add(&votes[bin], (int)weight_of[n]);
      }
      BARRIER();
      for (int bin = item; bin < used + 2; bin += ITEMS) {
        if (votes[bin] == 0) continue;
        votes[bin] *= visibility(right, right_layout, x, y, first - 1 + bin, seen, hidden, impossible);
        if (bin > 0 && bin <= used) atomic_add(&all, votes[bin]);
      }
      BARRIER();
      for (int bin = item + 1; bin <= used; bin += ITEMS) {
        if (votes[bin] == 0) continue;  // its better neighbour has as many votes, or more
        const uint supported = 2 * (uint)votes[bin] + (uint)votes[bin - 1] + (uint)votes[bin + 1];
        if (supported <= most) continue;
        most = supported;
        best = first - 1 + bin;
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
    most = (uint)(winners[0] >> 32);
    best = 0x40000000 - (int)(uint)winners[0];

    if (most != 0) {
      long weight = 0, moment = 0;
      for (int n = item; n < samples; n += ITEMS) {
        if (weight_of[n] == 0) continue;
        const int b = whole(q_of[n]);
        weight_of[n] *= visibility(right, right_layout, x, y, b, seen, hidden, impossible);
        if (abs(b - best) > 1) continue;
        weight += (long)weight_of[n];
        moment += (long)weight_of[n] * (q_of[n] - 256 * (best - 2));
      }
      sums[item] = weight;
      sums[ITEMS + item] = moment;
      add_up(sums, 2, item);
      const int m = 256 * (best - 2) + (int)(sums[ITEMS] / sums[0]);
      BARRIER();
      long sum[SUMS];
      for (int k = 0; k < SUMS; ++k) sum[k] = 0;
      for (int n = item; n < samples; n += ITEMS) {
        const int dq = q_of[n] - m;
        if (weight_of[n] == 0 || abs(dq) > 3 * 256) continue;
        const long w = weight_of[n];
        const int i = n % side - reach, j = n / side - reach;
        sum[0] += w;
        sum[1] += w * i;
        sum[2] += w * j;
        sum[3] += w * (i * i);
        sum[4] += w * (j * j);
        sum[5] += w * (i * j);
        sum[6] += w * dq;
        sum[7] += w * (i * dq);
        sum[8] += w * (j * dq);
      }
      for (int k = 0; k < SUMS; ++k) sums[k * ITEMS + item] = sum[k];
      add_up(sums, SUMS, item);
      if (item == 0) {
        PIXEL(disparity, x, y) = plane_at_centre(sums, m, added_variance);
        PIXEL(validity, x, y) = (uchar)((PIXEL(validity, x, y) & ~REASONS) | FILLED);
        if (GIVEN(confidence)) PIXEL(confidence, x, y) = divide((float)most, (float)(4 * all));
      }
    }
    BARRIER();
  }
}
