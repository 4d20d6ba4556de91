// Estimates by how much the rows of a rectified pair differ, from the pair alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/row_alignment.hpp"

namespace stereopsis {

// Reason why an estimate gives no alignment.
enum class NoAlignment {
  none,        // there is an alignment
  few_tracks,  // fewer than RowEstimate::enough_tracks points of the left image were found in the right one
  uncertain,   // the standard deviation of a coefficient is above RowEstimate::most_deviation
  one_corner,  // the tracks lie in one part of the image, so that they determine no plane
  rows_agree,  // the root mean square of the plane is below RowEstimate::least_rms: resampling would cost more
};

// Returns the name of a reason, such as "few_tracks"; "" for `none`.
const char* to_string(NoAlignment reason);

// The result of an estimate. The alignment is fitted to tracks: points of the left image that are located in the right image
// to about 1/50 px. It has a field if one explains tracks to which it was not fitted much better than the plane alone.
struct RowEstimate {
  // The alignment, with coefficients that are multiples of 1/1024 px; empty if `reason` states why there is none.
  std::optional<RowAlignment> alignment = {};
  NoAlignment reason = NoAlignment::few_tracks;  // the reason; `none` if there is an alignment
  RowAlignment plane = {};                       // the fitted plane with its field, even if there is no alignment
  RowAlignment deviation = {};                   // standard deviation of each coefficient of the plane, in pixels
  int tracks = 0;                                // number of tracks to which the plane is fitted
  double remaining = 0;  // robust standard deviation of the tracks around the plane and its field, in pixels

  static constexpr int enough_tracks = 100;       // smallest number of tracks of an alignment
  static constexpr double most_deviation = 0.05;  // largest standard deviation of a coefficient of an alignment, pixels
  static constexpr double least_rms = 0.08;       // smallest root mean square of an alignment, pixels

  // Returns one sentence: the alignment, or the reason why there is none.
  std::string sentence() const;
};

// Estimates the alignment of a rectified pair. Rows that differ by up to 12 px are found. The result is the same, bit by
// bit, on every machine. Throws Error(call) if the images have no pixels, or if their sizes differ.
RowEstimate estimate_row_alignment(const AnyImageView& left, const AnyImageView& right);

// The rows of one pair of a sequence, for RowFilter.
struct RowMeasurement {
  Size size;             // size of both images
  int tracks = 0;        // number of tracks
  double remaining = 0;  // robust standard deviation of the tracks around the terms, in pixels
  // Offset, roll, zoom, keystone, and the difference at a disparity of the image's width, all in pixels. The last term is
  // not 0 if the baseline is not exactly along the rows.
  std::array<double, 5> terms{};
  std::array<std::array<double, 5>, 5> information{};  // inverse of the covariance of the terms
  // Plane of the tracks' disparities, as parts of the image's width, with the coefficients of a RowAlignment.
  std::array<double, 4> disparities{};
  double far = 0;                          // disparity that 2 % of the tracks are below, as a part of the image's width
  RowField field = {};                     // the part that the terms do not explain; empty for most pairs
  std::vector<std::int32_t> profile = {};  // sums along rows of the left image, for its motion since the pair before
};

// The shutters of the cameras are out of step: the offset of the rows follows the vertical motion of the images.
struct ShutterDelay {
  double pairs = 0;        // time by which the right image was taken later, in times between pairs; negative: earlier
  double correlation = 0;  // correlation of the offset with the motion, −1 to 1
  int count = 0;           // number of pairs

  // Returns one sentence that says so, and what to do.
  std::string sentence() const;
};

// Measures the rows of a pair. The pairs of a sequence can be measured in any order, also by several threads. The result
// is the same, bit by bit, on every machine. Throws Error(call) as estimate_row_alignment() does.
RowMeasurement measure_rows(const AnyImageView& left, const AnyImageView& right);

// Estimates the alignments of a sequence of pairs of the same cameras. The offset is that of each pair, because vibration
// and shutters that are out of step change it. The other coefficients, and the term in the disparity, change slowly, so
// that a filter estimates them from all pairs so far. The alignment changes only by more than its standard deviation.
// The filter starts again at a pair whose rows are not those that it predicts, such as after a cut. Until a pair has as
// many tracks and as small deviations as estimate_row_alignment() requires, there is no alignment.
class RowFilter {
 public:
  // Returns the estimate of the next pair. Its deviations are those of the filter. A pair with few tracks has the
  // alignment that the earlier pairs predict.
  RowEstimate next(const RowMeasurement& pair);
  // Returns the delay between the shutters, if the offsets of at least 20 pairs so far follow the motion of the images.
  std::optional<ShutterDelay> shutters() const;

 private:
  // The offsets and the motions of the pairs: the number of pairs, sums, and sums of products.
  struct Motions {
    std::vector<std::int32_t> profile;  // profile of the last pair
    std::optional<double> last;         // motion from the pair before to the last one, in rows
    double offset = 0;                  // offset of the last pair
    int count = 0;                      // number of pairs
    double motion = 0;                  // sum of the motions
    double offsets = 0;                 // sum of the offsets
    double motion_squared = 0;          // sum of the squares of the motions
    double offset_squared = 0;          // sum of the squares of the offsets
    double product = 0;                 // sum of the products of motion and offset
  };

  void start(Size size);
  void predict();
  void update(const RowMeasurement& pair);
  RowEstimate estimate(const RowMeasurement& pair);
  void follow(const RowMeasurement& pair);

  Motions motions_;
  Size size_;
  int pairs_ = 0;  // pairs since the filter started
  std::array<double, 5> terms_{};
  std::array<std::array<double, 5>, 5> covariance_{};
  double mean_offset_ = 0;
  double variance_of_offset_ = 0;
  RowAlignment shown_;       // the alignment of the last pair
  bool is_aligned_ = false;  // true if the last pair had an alignment
  bool is_known_ = false;    // true if a pair since the start determined the alignment alone
};

// Returns a right image with aligned rows, computed on the CPU, for programs that match by themselves. A matcher with
// Problem::row_alignment aligns the image on its own device instead. The image is grey or RGB; `usable` of the result is
// 255, or 0 if a pixel has no source or its source is masked. Throws Error(call) for an alignment of more than RowAlignment::most_rows, and
// for a mask of another size.
RectifiedView with_aligned_rows(const AnyImageView& right, const RowAlignment& alignment,
                                ImageView<const std::uint8_t> mask = {}, int threads = 0);

// Returns a part of an aligned right image, for programs that match large images in parts: the pixels are those that the
// whole aligned image has there. `rows` is the part RowAlignment::rows_for(part, whole) of the given image, whose size is
// `whole`. Throws Error(call) as above, and for `rows` of another size.
RectifiedView with_aligned_rows(const AnyImageView& rows, const RowAlignment& alignment, const Rect& part, Size whole,
                                ImageView<const std::uint8_t> mask = {}, int threads = 0);

// Returns maps that rectify a pair and align the rows of the rectified right image. A matcher with both a rectification
// and an alignment computes the same maps on its device, so that pixels are interpolated once. Throws Error(call) as
// with_aligned_rows() does.
RectificationMaps aligned_maps(const RectificationMaps& maps, const RowAlignment& alignment);

}  // namespace stereopsis
