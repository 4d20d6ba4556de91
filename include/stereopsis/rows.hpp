// Estimates by how much the rows of a rectified pair differ, from the pair alone.
#pragma once

#include <optional>
#include <string>

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

// The result of an estimate. The plane is fitted to tracks: points of the left image that are located in the right image
// to about 1/50 px.
struct RowEstimate {
  // The alignment, with coefficients that are multiples of 1/1024 px; empty if `reason` states why there is none.
  std::optional<RowAlignment> alignment;
  NoAlignment reason = NoAlignment::few_tracks;  // the reason; `none` if there is an alignment
  RowAlignment plane;                            // the fitted plane, even if there is no alignment
  RowAlignment deviation;                        // standard deviation of each coefficient, in pixels
  int tracks = 0;                                // number of tracks to which the plane is fitted
  double remaining = 0;                          // robust standard deviation of the tracks around the plane, in pixels

  static constexpr int enough_tracks = 100;       // smallest number of tracks of an alignment
  static constexpr double most_deviation = 0.05;  // largest standard deviation of a coefficient of an alignment, pixels
  static constexpr double least_rms = 0.08;       // smallest root mean square of an alignment, pixels

  // Returns one sentence: the alignment, or the reason why there is none.
  std::string sentence() const;
};

// Estimates the alignment of a rectified pair. Rows that differ by up to 12 px are found. The result is the same, bit by
// bit, on every machine. Throws Error(call) if the images have no pixels, or if their sizes differ.
RowEstimate estimate_row_alignment(const AnyImageView& left, const AnyImageView& right);

// Returns a right image with aligned rows, computed on the CPU, for programs that match by themselves. A matcher with
// Problem::row_alignment aligns the image on its own device instead. The image is grey or RGB; `usable` of the result is
// 255, or 0 if a pixel has no source or its source is masked. Throws Error(call) for an alignment of more than 64 pixels, and
// for a mask of another size.
RectifiedView with_aligned_rows(const AnyImageView& right, const RowAlignment& alignment,
                                ImageView<const std::uint8_t> mask = {}, int threads = 0);

// Returns maps that rectify a pair and align the rows of the rectified right image. A matcher with both a rectification
// and an alignment uses these maps, so that pixels are interpolated once.
RectificationMaps aligned_maps(const RectificationMaps& maps, const RowAlignment& alignment);

}  // namespace stereopsis
