// The alignment of rows in a run: estimated for each frame, fixed for all frames, or off.
#pragma once

#include <optional>
#include <string>

#include "jobs/cameras.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::jobs {

struct RowSettings {
  bool is_off = false;
  std::optional<RowAlignment> fixed;  // the alignment of all frames; nullopt: estimated for each frame
};

// Reads a setting: `auto`, `off`, OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels, or a file with such numbers.
RowSettings row_settings(const std::string& given, const SettingNames& names);

// Returns the rows of the mirrored pair, whose right image is the mirrored left one.
std::optional<RowEstimate> mirrored(std::optional<RowEstimate> rows);

// Finds the alignments of the frames of a run. Frames can be measured in any order and by several threads; they are
// aligned in their order, because a filter follows the rows of a sequence.
class FrameRows {
 public:
  // The cameras must outlive the object. `has_costs`: the frames come with costs, whose rows are not aligned.
  FrameRows(const RowSettings& settings, const Cameras& cameras, bool is_sequence, bool has_costs);

  bool is_off() const { return is_off_; }
  // Returns whether the alignment of a frame depends on the frames before it.
  bool needs_all_frames() const { return is_sequence_ && !is_off_ && !fixed_; }
  // Measures the rows of a frame, and returns them if a filter needs them, or if `always`.
  std::optional<RowMeasurement> measured(const InputFrame& frame, bool always = false) const;
  // Sets the alignment of a frame, after those of all frames before it, including frames that need no work.
  void align(InputFrame& frame);
  // Notes the rows of a frame that needs no work.
  void pass(const RowMeasurement& rows) { filter_.next(rows); }
  // Returns the delay between the shutters, if the rows of the frames so far show one.
  std::optional<ShutterDelay> shutters() const { return filter_.shutters(); }

 private:
  bool is_off_, is_sequence_;
  std::optional<RowAlignment> fixed_;
  const Cameras& cameras_;
  RowFilter filter_;
};

}  // namespace stereopsis::jobs
