// Describes how to run a pipeline on stripes of rows, one after another or on many machines. The result is the same as
// for the whole image, bit for bit.
#pragma once

#include <optional>

#include "stereopsis/matcher.hpp"
#include "stereopsis/stripe_maps.hpp"

namespace stereopsis {

// A plan for matching stripes of an image. Each stripe is read with a margin of rows, which is smaller at the borders
// of the image. First, `raw` runs on every stripe. Semi-global matching continues from path costs of the neighbouring
// stripes (Problem::stripe), and other pipelines run on a region of the image (Problem::region). Then `refined`, if it
// has a value, runs on the maps of all stripes (Problem::refine_only). Finally, `rated` runs on the refined maps.
struct PartitionPlan {
  bool follows_paths = false;  // true if path costs pass between stripes, as in semi-global matching
  int path_kinds = 0;          // rows of Matched::paths: 1 with 4 paths, 3 with 8 paths
  // Pipeline from the images to the selection, with the refinements that have a small margin.
  Pipeline raw;
  // Margin of the refinements of `raw`, in rows above and below; path costs are computed in this margin as well.
  int raw_rows = 0;
  int feature_rows = 0;  // margin of the matching cost and the penalties, in rows beyond `raw_rows`

  std::optional<Pipeline> refined = {};  // pipeline of the remaining refinements
  int refined_rows = 0;                  // margin of `refined`, in rows above and below
  // True if `refined` has a fill, which searches columns for measured pixels at any distance. After `unfilled` has run
  // on the maps of all stripes, the caller reads the maps of a stripe with a margin of `behind_fill` rows, and more rows
  // until rows_suffice() returns true, and runs `filled` on these rows.
  bool fills = false;
  std::optional<Pipeline> unfilled = {};  // the refinements before the fill
  std::optional<Pipeline> filled = {};    // the fill, and the refinements after it
  // True if, from pixels farther away, the fill needs only the nearest measured disparity in each column. The caller
  // must then add two rows to the maps, just above and below, with these disparities; other pixels are masked.
  bool takes_edges = false;
  int before_fill = 0;         // margin of the refinements before the fill, in rows
  int behind_fill = 0;         // margin of the refinements after the fill, in rows
  RefinementNeeds needs = {};  // inputs of `refined` in addition to disparity and validity

  // Computes the confidence from the refined maps and the images, with Problem::refine_only. The member has no
  // value if no confidence is requested, or if another part computes the confidence.
  std::optional<Pipeline> rated = {};
  int rated_rows = 0;  // margin of `rated`, in rows above and below
  int block = 1;       // the rows that are read for `rated` start at a multiple of this number
};
// Deprecated name of PartitionPlan.
using InStripes [[deprecated("use PartitionPlan")]] = PartitionPlan;

// Returns the plan for running the pipeline on stripes. Throws Error(call) with the reason if stripes cannot give the
// same result as the whole image.
PartitionPlan partition_plan(const Pipeline& pipeline, bool want_confidence = false);
// Returns whether the maps of a stripe, without the two rows of PartitionPlan::takes_edges, have enough rows for `filled`.
bool rows_suffice(const Pipeline& filled, const StripeMaps& maps);
// Deprecated name of partition_plan().
[[deprecated("use partition_plan")]] inline PartitionPlan in_stripes(const Pipeline& pipeline,
                                                                     bool want_confidence = false) {
  return partition_plan(pipeline, want_confidence);
}

}  // namespace stereopsis
