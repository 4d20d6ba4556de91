// The fault of a pair in memory, beside the pair before it.
#pragma once

#include <optional>

#include "stereopsis/formats.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/pair_judge.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::jobs {

// Calls f(left, right) with the images of a pair as grey or RGB images.
template <class F>
auto with_rgb(const StereoPair& pair, F&& f) {
  if (!pair.format) return f(pair.left, pair.right);
  AnyImage left, right;
  to_rgb(pair.left, *pair.format, left);
  to_rgb(pair.right, *pair.format, right);
  return f(left.view(), right.view());
}

// Calls f(left, right) with the images as they are matched: rectified by the maps of the pair or else by `maps`, unless
// both are null, and with aligned rows if the pair has an alignment.
template <class F>
auto with_matched(const StereoPair& pair, const RectificationMaps* maps, F&& f) {
  const auto with_rows = [&](const AnyImageView& left, const AnyImageView& right) {
    if (!pair.row_alignment) return f(left, right);
    const AnyImage aligned = with_aligned_rows(right, *pair.row_alignment).image;
    return f(left, aligned.view());
  };
  return with_rgb(pair, [&](const AnyImageView& left, const AnyImageView& right) {
    const RectificationMaps* const own = pair.rectification ? pair.rectification.get() : maps;
    if (own == nullptr) return with_rows(left, right);
    const AnyImage left_view = rectified(left, own->left).image, right_view = rectified(right, own->right).image;
    return with_rows(left_view.view(), right_view.view());
  });
}

// Returns the fault of a pair that is not aligned although its rows differ by so much that much fewer pixels are measured.
std::optional<PairFault> unaligned_fault(const RowEstimate& rows);

// Returns the check of an aligned pair, or that of the pair as it is given if one camera is above the other: the alignment
// then follows the scene, and hides that points differ in their rows alone.
PairReport unless_vertical(const PairReport& aligned, const RowAlignment& rows, const AnyImageView& left,
                           const AnyImageView& right);

// Checks a pair on the host quickly, rectified by `maps` unless that is null, and otherwise with aligned rows if the pair
// has an alignment. Returns its gravest fault; nothing if the pair fits or is too small to be judged. `before` is the
// pair before it, or null. With `expects_negative`, negative disparities are no fault. A pair without an alignment, not
// even one that moves no row, may be unaligned.
std::optional<PairFault> gravest_fault(const StereoPair& pair, const StereoPair* before, const RectificationMaps* maps,
                                       bool expects_negative);

}  // namespace stereopsis::jobs
