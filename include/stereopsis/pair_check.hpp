// Checks whether a pair is suitable for matching, and estimates its search range.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Rotation or reflection of one image relative to the other.
enum class Turn { none, half, rows_reversed, mirrored };  // `half`: by 180°

// y_left − y_right of corresponding points, as a plane over the image that is fitted to the matches. Without a fault of the
// pair, all values are near 0.
struct RowDifference {
  double offset = 0;      // in the centre of the image, in pixels
  double roll = 0;        // at the right border minus at the left border, in pixels: one camera is rotated
  double zoom = 0;        // at the lower border minus at the upper border, in pixels: the focal lengths differ
  double most_apart = 0;  // largest absolute value, which is in a corner of the image, in pixels
  double deviation = 0;   // standard deviation of most_apart, in pixels
};

// The shares of the sparse matches, 0 to 1, that a search range leaves out by more than a pixel. Matches of a repetitive
// pattern that fit nearly as well within the range do not count.
struct OutsideRange {
  double below = 0, above = 0;  // shares of the matches that lie below the range, and above it
};

// The result of a check by sparse matches: measurements, and faults of the pair.
struct PairReport {
  int matches = 0;              // number of sparse matches from which the other values are computed
  double median_dy = 0;         // median of |y_left − y_right|, pixels
  double p95_dy = 0;            // 95th percentile of |y_left − y_right|, pixels
  RowDifference rows;           // differences between corresponding rows
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
  // Both images have the same pattern at the same place, and the scene behind it elsewhere: fixed noise of the sensor,
  // columns, or a picture that was drawn over both.
  bool shared_pattern = false;
  // Shares of the matches outside the search range that was given to check_pair, if the pair is rectified.
  OutsideRange outside;
  Size size;  // size of the images

  // Smallest sides of images that are judged, and number of matches from which a verdict is reliable.
  static constexpr int smallest_long_side = 160, smallest_short_side = 120, enough_matches = 100;

  // Returns true if the images are too small to be judged: below 160×120 pixels, in any orientation.
  bool too_small() const {
    return std::max(size.width, size.height) < smallest_long_side ||
           std::min(size.width, size.height) < smallest_short_side;
  }
  // Returns true if there is a verdict: the pair is suitable, or it has a fault.
  bool judged() const {
    return same_image || (!too_small() && (matches > 0 || vertical || unrelated || turn != Turn::none));
  }
  // Returns the largest difference between corresponding rows that is allowed anywhere in the image: a thousandth of
  // its diagonal, at least 1 pixel and at most 1.5 pixels.
  double rows_limit() const { return std::clamp(std::hypot(size.width, size.height) / 1000, 1.0, 1.5); }
  // Returns true if corresponding points have the same row: half of them within a pixel, and the plane of `rows`, less
  // two standard deviations, within rows_limit().
  bool rectified() const {
    return matches > 0 && median_dy <= 1.0 && rows.most_apart - 2 * rows.deviation <= rows_limit();
  }
};

// Deprecated name of PairReport.
using PairCheck [[deprecated("use PairReport")]] = PairReport;

// Effort of a check. `quick` does not estimate the range. All other values are the same.
enum class CheckEffort { full, quick };

// Checks a pair by sparse matches, which are found coarse to fine and differ by up to 24 rows. If there are no such
// matches, matches on coarser levels are used. These matches differ by up to a quarter of the height, and have the
// lower precision of their levels. Throws Error(call) if the sizes differ. `matches` is 0 if fewer than 12 matches were
// found, or if the images are less than 32 pixels wide or high. If `searched` is given, `outside` says what this search
// range leaves out.
PairReport check_pair(const AnyImageView& left, const AnyImageView& right, CheckEffort effort = CheckEffort::full,
                      std::optional<DisparityRange> searched = {});

// Returns whether both images have the same size, type and pixels. Returns false for images of a single value, such as
// black frames.
bool same_pixels(const AnyImageView& a, const AnyImageView& b);

// Estimates only the search range, from reduced images. Disparities of both signs up to half the width are considered.
// `stereopsis match` uses this estimate if no range is given. The number of disparities is a multiple of 16. The pair
// must be rectified. Throws the errors of check_pair, and Error(call) if the images are less than 32 pixels wide or high,
// or if there are too few matches for an estimate.
DisparityRange estimate_range(const AnyImageView& left, const AnyImageView& right);

// Finds out whether a rectified pair has disparities outside a range. Returns nothing if there are too few matches for
// an answer, or if the images are less than 32 pixels wide or high. Throws Error(call) as check_pair.
std::optional<OutsideRange> matches_outside(const AnyImageView& left, const AnyImageView& right, DisparityRange range);

}  // namespace stereopsis
