// Propagation of reliable disparities: propagation.hpp. A work-item for each line.
//
// instance any:
#include "device/gpu/vocabulary.h"
#include "stages/cost/colours.cl.h"

#define STAYS (16 | 32)
#define REASONS 63
#define REPAIRED 128

KERNEL(propagate)(int reliability, int variation, int columns, IMAGE(const uint, colours), IMAGE(const float, from),
                  IMAGE(float, to), IMAGE(float, scratch), IMAGE(uchar, validity)) {
  const int line = global_id(0), length = columns ? HEIGHT(from) : WIDTH(from);
  if (line >= (columns ? WIDTH(from) : HEIGHT(from))) return;
#define AT(image, i) PIXEL(image, columns ? line : (i), columns ? (i) : line)
  // Along the line into the scratch map, and back into the result.
  for (int step = 1; step >= -1; step -= 2) {
    const int first = step > 0 ? 0 : length - 1, end = step > 0 ? length : -1;
    float carried = INVALID;
    for (int i = first; i != end;) {
      const float whole = floor(AT(from, i) + 0.5f);
      int run = 1;
      while (i + run * step != end && floor(AT(from, i + run * step) + 0.5f) == whole) ++run;
      const int reliable = whole == whole && run >= reliability;
      for (int j = 0; j < run; ++j, i += step) {
        if (!reliable && i != first && (int)colour_difference(AT(colours, i), AT(colours, i - step)) >= variation)
          carried = INVALID;
        const float arriving = reliable ? INVALID : carried;
        if (step > 0) {
          AT(scratch, i) = arriving;
          continue;
        }
        const float other = AT(scratch, i), here = AT(from, i);
        const float d = other == other && !(arriving < other) ? other : arriving;
        const int reasons = AT(validity, i);
        const int spreads = d == d && (reasons & STAYS) == 0;
        AT(to, i) = spreads ? d : here;
        if (spreads && d != here) AT(validity, i) = (uchar)((reasons & ~REASONS) | REPAIRED);
      }
      if (reliable) carried = AT(from, i - step);
    }
  }
}
