// Is a pair fit for matching, and over which range?
#pragma once

#include <string>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

struct PairCheck {
  int matches = 0;                       // sparse matches that the figures rest on
  double median_dy = 0;                  // median of |y_left − y_right|, pixels
  double p95_dy = 0;                     // its 95th percentile
  double median_disparity = 0;           // of the given order
  bool swapped = false;                  // the images seem to be in the wrong order
  DisparityRange range;                  // an estimate that covers the scene, with a margin
  bool rectified() const { return matches > 0 && median_dy <= 1.0; }
};

// Sparse matches over a small vertical range, found coarse to fine. Throws Error(call) when the sizes
// differ or the images are too small.
PairCheck check_pair(const AnyImageView& left, const AnyImageView& right);

// The range alone, from a coarse level; what `match` uses when nobody gives one.
DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right);

}  // namespace stereopsis
