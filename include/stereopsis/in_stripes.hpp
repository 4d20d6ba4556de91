// How a pipeline is done in stripes of rows, one by one or on many machines, with the bits of the whole image.
#pragma once

#include <optional>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// A stripe's own rows are matched with what follows around them; at the image's edges there is less. First `raw` is done to every
// stripe: of semi-global matching behind path costs from the stripes above and below (Problem::stripe), else as a region of the
// image (Problem::region). Then, if there is one, `refined` to the maps of all stripes (Problem::refines).
struct InStripes {
  bool follows_paths = false;  // of semi-global matching: path costs go from stripe to stripe
  int path_kinds = 0;          // rows of Matched::paths: of 1 kind of path with 4 of them, of 3 with 8
  Pipeline raw;                // from the images to the selection, and the refinements that see a few rows alone
  int raw_rows = 0;            // above and below: that refinements of `raw` read, so that paths have to pass them, too
  int feature_rows = 0;        // above and below these: that windows of the matching cost read, and the penalties

  std::optional<Pipeline> refined = {};  // the refinements that are left
  int refined_rows = 0;                  // above and below: that they read
  // A fill looks along columns until it meets a pixel that was measured. Of the rows that are read, those at least so many rows
  // inside (but at the image's edges, all) are right in what was measured. For each pixel of the stripe's own rows, and of
  // `behind_fill` rows around them, that is filled, or invalid without a mask, its column must have a measured pixel in them
  // above and one below, or they must go on to the image's edge; else more rows have to be read.
  bool fills = false;
  int before_fill = 0;         // rows above and below: that the refinements before the fill read
  int behind_fill = 0;         // and those behind it
  RefinementNeeds needs = {};  // of `refined`, beside the disparity and the validity
};

// Throws Error(call) with the reason where a pipeline's result in stripes can't be that of the whole.
InStripes in_stripes(const Pipeline&, bool want_confidence = false);

}  // namespace stereopsis
