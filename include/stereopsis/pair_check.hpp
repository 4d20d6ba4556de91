// Checks whether a pair is fit for matching, and estimates its search range.
#pragma once

#include <string>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// The result of a check by sparse matches.
struct PairCheck {
  int matches = 0;              // number of sparse matches behind the other values
  double median_dy = 0;         // median of |y_left − y_right|, pixels
  double p95_dy = 0;            // 95th percentile of |y_left − y_right|, pixels
  double median_disparity = 0;  // with the images in the given order
  bool swapped = false;         // nearly all (95 %) disparities are negative: the images are exchanged
  bool same_image = false;      // both images have the same pixels: one image was given twice
  DisparityRange range;         // estimated range with a margin; the default if there are no matches
  bool rectified() const { return matches > 0 && median_dy <= 1.0; }  // returns true if rows agree
};

// Checks a pair by sparse matches, which are searched from coarse to fine, up to 24 rows up and down. Throws
// Error(call) if the sizes differ or the images are too small (less than 32 pixels wide or high). `matches` is 0 if
// fewer than 12 were found.
PairCheck check_pair(const AnyImageView& left, const AnyImageView& right);

// Returns whether both images have the same size, type and pixels. Returns false for images of a single value, such as
// black frames.
bool same_pixels(const AnyImageView& a, const AnyImageView& b);

// Estimates only the search range, from a reduced image, among disparities of both signs up to half the width.
// `stereopsis match` uses it if no range is given. Its count is a multiple of 16. Assumes a rectified pair. Throws
// Error(call) as check_pair, and if there are too few matches for an estimate.
DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right);

}  // namespace stereopsis
