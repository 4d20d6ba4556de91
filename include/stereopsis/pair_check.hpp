// Is a pair fit for matching, and over which range?
#pragma once

#include <string>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// What sparse matches say of a pair.
struct PairCheck {
  int matches = 0;              // sparse matches that the figures rest on
  double median_dy = 0;         // median of |y_left − y_right|, pixels
  double p95_dy = 0;            // its 95th percentile
  double median_disparity = 0;  // of the given order
  bool swapped = false;         // nearly all (95 %) disparities are negative: the images are in the wrong order
  bool same_image = false;      // both images have the same pixels: one picture was given twice
  DisparityRange range;         // an estimate that covers the scene, with a margin; the default without matches
  bool rectified() const { return matches > 0 && median_dy <= 1.0; }  // rows agree
};

// Sparse matches up to 24 rows up and down, found coarse to fine. Throws Error(call) when the sizes differ or the
// images are too small (less than 32 pixels wide or high). `matches` is 0 where fewer than 12 were found.
PairCheck check_pair(const AnyImageView& left, const AnyImageView& right);

// Returns whether both images have the same size, type and pixels. Images of one value, such as black frames, are no
// picture and do not count.
bool same_pixels(const AnyImageView& a, const AnyImageView& b);

// The range alone, from a coarse level, over half the width and both signs; what `match` uses when nobody gives one.
// Its count is a multiple of 16. Assumes a rectified pair. Throws Error(call) as check_pair, and where there are too
// few matches to estimate it.
DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right);

}  // namespace stereopsis
