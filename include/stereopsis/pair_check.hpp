// Checks whether a pair is suitable for matching, and estimates its search range.
#pragma once

#include <optional>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Rotation or reflection of one image relative to the other.
enum class Turn { none, half, rows_reversed, mirrored };  // `half`: by 180°

// The result of a check by sparse matches: measurements, and faults of the pair.
struct PairReport {
  int matches = 0;              // number of sparse matches from which the other values are computed
  double median_dy = 0;         // median of |y_left − y_right|, pixels
  double p95_dy = 0;            // 95th percentile of |y_left − y_right|, pixels
  double median_disparity = 0;  // median of the disparities, with the images in the given order
  // Estimated range with a margin, for a pair that is rectified(); the default range if there are no matches.
  DisparityRange range;
  // At least 90 % of the disparities other than 0 are negative, and at most 75 % of all are 0: the images are swapped,
  // or the cameras converge.
  bool swapped = false;
  bool same_image = false;  // both images have the same pixels: one image was given twice
  bool same_view = false;   // nearly all (95 %) disparities are 0: both images show the scene from one place
  // One camera is above the other; `swapped` is then true if the left image is from the lower camera.
  bool vertical = false;
  bool unrelated = false;  // the images have texture, but no point of one image was found in the other
  Turn turn = Turn::none;  // one image is turned or mirrored

  // Returns true if corresponding points have the same row.
  bool rectified() const { return matches > 0 && median_dy <= 1.0; }
};

// Deprecated name of PairReport.
using PairCheck [[deprecated("use PairReport")]] = PairReport;

// Effort of a check. `quick` stops as soon as a sample of points shows that rows agree, and does not estimate the
// range. A quick check takes some milliseconds for a suitable pair of 640×480 pixels.
enum class CheckEffort { full, quick };

// Checks a pair by sparse matches, which are found coarse to fine and differ by up to 24 rows. If there are no such
// matches, matches on coarser levels are used. These matches differ by up to a quarter of the height, and have the
// lower precision of their levels. Throws Error(call) if the sizes differ or the images are too small (less than 32
// pixels wide or high). `matches` is 0 if fewer than 12 matches were found.
PairReport check_pair(const AnyImageView& left, const AnyImageView& right, CheckEffort effort = CheckEffort::full);

// Returns whether both images have the same size, type and pixels. Returns false for images of a single value, such as
// black frames.
bool same_pixels(const AnyImageView& a, const AnyImageView& b);

// Estimates only the search range, from reduced images. Disparities of both signs up to half the width are considered.
// `stereopsis match` uses this estimate if no range is given. The number of disparities is a multiple of 16. The pair
// must be rectified. Throws the errors of check_pair, and Error(call) if there are too few matches for an estimate.
DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right);

// The shares of the sparse matches, 0 to 1, that a search range leaves out by more than a pixel. Matches of a repetitive
// pattern that fit nearly as well within the range do not count.
struct OutsideRange {
  double below = 0, above = 0;  // shares of the matches that lie below the range, and above it
};
// Finds out whether a rectified pair has disparities outside a range. Returns nothing if there are too few matches for
// an answer. Throws Error(call) as check_pair.
std::optional<OutsideRange> matches_outside(const AnyImageView& left, const AnyImageView& right, DisparityRange range);

}  // namespace stereopsis
