// Describes how to run a pipeline on stripes of rows, one after another or on many machines, with the same result as
// the whole image, bit for bit.
#pragma once

#include <optional>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// A plan for matching stripes of an image. Each stripe is read with rows around it, fewer at the borders of the image.
// First, `raw` runs on every stripe: semi-global matching continues from path costs of the neighbouring stripes
// (Problem::stripe); other pipelines run on a region of the image (Problem::region). Then `refined`, if there is one,
// runs on the maps of all stripes (Problem::refine_only).
struct PartitionPlan {
  bool follows_paths = false;  // true if path costs pass between stripes, as in semi-global matching
  int path_kinds = 0;          // rows of Matched::paths: 1 with 4 paths, 3 with 8 paths
  Pipeline raw;                // from the images to the selection, and the refinements with a small margin
  int raw_rows = 0;      // margin of the refinements of `raw`, in rows above and below; paths pass these rows, too
  int feature_rows = 0;  // margin of the matching cost and the penalties, in rows beyond `raw_rows`

  std::optional<Pipeline> refined = {};  // the remaining refinements
  int refined_rows = 0;                  // margin of `refined`, in rows above and below
  // True if `refined` fills along columns, up to the next measured pixel, which may be any number of rows away. The
  // caller must then read more rows until the column of every pixel to fill has a measured pixel above it and one below
  // it, or until the rows reach the border of the image. Pixels to fill are the filled pixels, and the invalid pixels
  // without a mask, in the stripe and in `behind_fill` rows around it. The outermost `before_fill` rows that are read
  // do not count, except at the border.
  bool fills = false;
  int before_fill = 0;         // margin of the refinements before the fill, in rows
  int behind_fill = 0;         // margin of the refinements after the fill, in rows
  RefinementNeeds needs = {};  // inputs of `refined` in addition to disparity and validity
};
// Deprecated name of PartitionPlan.
using InStripes [[deprecated("use PartitionPlan")]] = PartitionPlan;

// Returns the plan for running the pipeline on stripes. Throws Error(call) with the reason if stripes cannot give the
// same result as the whole image.
PartitionPlan partition_plan(const Pipeline& pipeline, bool want_confidence = false);
// Deprecated name of partition_plan().
[[deprecated("use partition_plan")]] inline PartitionPlan in_stripes(const Pipeline& pipeline,
                                                                     bool want_confidence = false) {
  return partition_plan(pipeline, want_confidence);
}

}  // namespace stereopsis
