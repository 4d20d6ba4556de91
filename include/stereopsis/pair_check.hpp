// Checks whether a pair is fit for matching, and estimates its search range.
#pragma once

#include <string>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Turn of one image against the other.
enum class Turn { none, half, rows_reversed, mirrored };  // `half`: by 180°

// The result of a check by sparse matches: what was measured, and what is wrong.
struct PairReport {
  int matches = 0;              // number of sparse matches behind the other values
  double median_dy = 0;         // median of |y_left − y_right|, pixels
  double p95_dy = 0;            // 95th percentile of |y_left − y_right|, pixels
  double median_disparity = 0;  // with the images in the given order
  DisparityRange range;         // estimated range with a margin; the default if there are no matches
  bool swapped = false;     // nearly all (95 %) disparities are negative: exchanged images, or cameras that converge
  bool same_image = false;  // both images have the same pixels: one image was given twice
  bool same_view = false;   // nearly all (95 %) disparities are 0: both images show the scene from one place
  bool vertical = false;    // one camera is above the other; `swapped` if the left image is of the lower one
  bool unrelated = false;   // the images have texture, but no point of one was found in the other
  Turn turn = Turn::none;   // one image is turned or mirrored

  bool rectified() const { return matches > 0 && median_dy <= 1.0; }  // returns true if rows agree
};

// Deprecated name of PairReport.
using PairCheck [[deprecated("use PairReport")]] = PairReport;

// `quick` returns as soon as a sample of the points shows that the rows agree, and leaves the range out: some
// milliseconds for a pair of 640×480 pixels that fits.
enum class CheckEffort { full, quick };

// Checks a pair by sparse matches up to 24 rows up and down, found coarse to fine; only if there are none, by matches
// on coarser levels, with the precision of these, up to a quarter of the height up and down. Throws Error(call) if the
// sizes differ or the images are too small (less than 32 pixels wide or high). `matches` is 0 if fewer than 12 were
// found.
PairReport check_pair(const AnyImageView& left, const AnyImageView& right, CheckEffort effort = CheckEffort::full);

// Returns whether both images have the same size, type and pixels. Returns false for images of a single value, such as
// black frames.
bool same_pixels(const AnyImageView& a, const AnyImageView& b);

// Estimates only the search range, from a reduced image, among disparities of both signs up to half the width.
// `stereopsis match` uses it if no range is given. Its count is a multiple of 16. Assumes a rectified pair. Throws
// Error(call) as check_pair, and if there are too few matches for an estimate.
DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right);

}  // namespace stereopsis
