// A frame on its way through a run: its input, and its result.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stereopsis/image.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::jobs {

// Returns whether a plan for some maps serves a pair with other ones; null for none.
inline bool serves(const RectificationMaps* planned, const RectificationMaps* maps) {
  return planned == nullptr || maps == nullptr ||
         ((!planned->left_complete || maps->left_complete) && (!planned->right_complete || maps->right_complete));
}

struct InputFrame {
  AnyImage left, right;
  Image<std::uint8_t> mask_left, mask_right;
  DisparityRange range;
  long long no_data_left = 0, no_data_right = 0;  // pixels that the files mark as no data
  double reading_ms = 0, rectifying_ms = 0;
  std::string note = {};                             // says which image had no colours, if both were converted to grey
  std::shared_ptr<const AnyImage> costs = {};        // a given cost volume
  Image<float> seeds = {}, seed_trust = {};          // disparities that are known beforehand; empty if there are none
  std::optional<RowMeasurement> measured_rows = {};  // for the alignment of a sequence, and for a rig that moves
  std::shared_ptr<const RectificationMaps> maps = {};  // the maps of this frame, if they are not those of all frames
  std::optional<RowEstimate> rows = {};                // empty if rows are not aligned

  StereoPair pair() const {
    StereoPair pair{left, right, mask_left, mask_right, costs ? costs->view() : AnyImageView()};
    if (!seeds.empty()) pair.seeds = seeds.view();
    if (!seed_trust.empty()) pair.seed_trust = seed_trust.view();
    if (rows) pair.row_alignment = rows->alignment;
    pair.rectification = maps;
    return pair;
  }
};

// A result, and the right view's if it was requested.
struct FrameResult {
  Matched left, right;
};

}  // namespace stereopsis::jobs
