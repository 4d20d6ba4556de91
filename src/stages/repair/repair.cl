// Repair of outliers by confidence: repair.hpp. A launch makes one pass along lines, which are rows or columns. A
// work-group processes RUN pixels of LINES lines, with their halo.
//
// Whether two pixels agree does not depend on the pixel between them. The agreement is therefore computed once and
// stored as bits, and a pair is a bit that is set in the words of both sides. Comparisons are differences whose signs
// are shifted in, because a GPU executes them at a higher rate.
//
// instance rows: ALONG_ROWS=1 MOST_REACH=10
// instance columns: ALONG_ROWS=0 MOST_REACH=10
// instance rows_far: ALONG_ROWS=1 MOST_REACH=31
// instance columns_far: ALONG_ROWS=0 MOST_REACH=31
#include "device/gpu/vocabulary.h"

#define BEYOND_REPAIR (16 | 32)
#define REASONS 63
#define REPAIRED 128

#undef RUN
#undef LINES
#undef LINE
#undef PART
#undef PARTS
#undef NEXT
#undef PLACE
#undef X_OF
#undef Y_OF
#if ALONG_ROWS
#define RUN 128
#define LINES 8
#define LINE local_id(1)
#define PART local_id(0)
#define PARTS 32
#define NEXT 1
#define PLACE(at) (LINE * SPAN + (at))
#define X_OF(at) (group_id(0) * RUN - MOST_REACH + (at))
#define Y_OF(at) (group_id(1) * LINES + LINE)
#else
#define RUN 64
#define LINES 16
#define LINE local_id(0)
#define PART local_id(1)
#define PARTS 16
#define NEXT LINES
#define PLACE(at) ((at) * LINES + LINE)
#define X_OF(at) (group_id(0) * LINES + LINE)
#define Y_OF(at) (group_id(1) * RUN - MOST_REACH + (at))
#endif
#define SPAN (RUN + 2 * MOST_REACH)

// A word with one bit for each pixel within twice the reach.
#if MOST_REACH > 16
typedef ulong Bits;
#else
typedef uint Bits;
#endif
#define WITH_SIGN(bits, value) ((bits) << 1 | bits_of_float(value) >> 31)

// Sets bit t − 1 if the t-th pixel after this one differs.
FUNCTION Bits differing(LOCAL_POINTER const float* disparity, float tolerance) {
  Bits bits = 0;
#pragma unroll
  for (int t = 2 * MOST_REACH; t > 0; --t)
    bits = WITH_SIGN(bits, tolerance - fabs(disparity[0] - disparity[t * NEXT]));
  return bits;
}

KERNEL(repair)(int reach, float factor, float tolerance, IMAGE(const float, disparity), IMAGE(const float, confidence),
               IMAGE(uchar, validity), IMAGE(float, disparity_out), IMAGE(float, confidence_out)) {
  LOCAL float disparities[LINES * SPAN];
  // The confidence of pixels without a disparity is below all others, so that such pixels are in no pair.
  LOCAL float confidences[LINES * SPAN];
  LOCAL Bits differences[LINES * SPAN];
  const int width = WIDTH(disparity), height = HEIGHT(disparity);
#define INSIDE(at) (X_OF(at) >= 0 && X_OF(at) < width && Y_OF(at) >= 0 && Y_OF(at) < height)
#define HERE(image, at) PIXEL(image, X_OF(at), Y_OF(at))
  for (int at = PART; at < SPAN; at += PARTS) {
    const float d = INSIDE(at) ? HERE(disparity, at) : INVALID;
    disparities[PLACE(at)] = d;
    confidences[PLACE(at)] = d == d ? HERE(confidence, at) : -1.0f;
  }
  BARRIER();
  for (int at = PART; at < RUN + MOST_REACH; at += PARTS)
    differences[PLACE(at)] = differing(disparities + PLACE(at), tolerance);
  BARRIER();

  for (int at = MOST_REACH + PART; at < MOST_REACH + RUN; at += PARTS) {
    if (!INSIDE(at)) continue;
    const int place = PLACE(at), reasons = HERE(validity, at);
    const float here = disparities[place], trust = HERE(confidence, at), need = trust * factor;
    // Bit k − 1 is set if the k-th pixel on a side is confident enough.
    uint left = 0, right = 0;
#pragma unroll
    for (int k = MOST_REACH; k > 0; --k) {
      left = WITH_SIGN(left, need - confidences[place - k * NEXT]);
      right = WITH_SIGN(right, need - confidences[place + k * NEXT]);
    }
    const uint within = (1u << reach) - 1;
    left &= within;
    right &= within;
    float result = here, gained = trust;
    if (left != 0 && right != 0 && (reasons & BEYOND_REPAIR) == 0) {
      // One bit for each pixel between the pixels of the closest pair. `before` identifies the left pixel of the pair.
      Bits between = ~(Bits)0;
      int before = 0;
#pragma unroll
      for (int k = 1; k <= MOST_REACH; ++k) {
        const Bits pairs = ((Bits)right << k) & ~differences[place - k * NEXT], below = ~pairs & (pairs - 1);
        if ((left >> (k - 1) & 1) != 0 && below < between) {
          between = below;
          before = k;
        }
      }
      if (before != 0) {
        const int behind = 1 + (int)popcount(between) - before;
        result = disparities[before <= behind ? place - before * NEXT : place + behind * NEXT];
        gained = need < 1.0f ? need : 1.0f;
        if (result != here) HERE(validity, at) = (uchar)((reasons & ~REASONS) | REPAIRED);
      }
    }
    HERE(disparity_out, at) = result;
    HERE(confidence_out, at) = gained;
  }
}

KERNEL(copy)(IMAGE(const float, from), IMAGE(float, to)) {
  const int x = global_id(0), y = global_id(1);
  if (x < WIDTH(to) && y < HEIGHT(to)) PIXEL(to, x, y) = PIXEL(from, x, y);
}
