// The records of a run's frames, for the report and the summary.
#pragma once

#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobs/frame.hpp"
#include "jobs/front_end.hpp"
#include "jobs/pixels.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/stage_time.hpp"

namespace stereopsis::jobs {

struct FrameRecord {
  enum class State { waiting, done, there, failed };  // there: complete from an earlier call
  State state = State::waiting;
  std::string problem;
  std::string complaint;                       // about the pair; empty if it was not judged or fits
  std::vector<std::filesystem::path> removed;  // outputs of a failed frame
  double reading_ms = 0, rectifying_ms = 0, matching_ms = 0, latency_ms = 0, writing_ms = 0;
  long long too_far = 0;  // pixels whose depth exceeds a 16-bit image
  std::vector<StageTime> stages;
  DisparityRange range;
  std::optional<RowEstimate> rows;  // empty if rows are not aligned
  Densities density;
  long long no_data_left = 0, no_data_right = 0;  // pixels
  double at_low_end = 0, at_high_end = 0;         // shares of the measured pixels at the ends of the range, 0 to 100

  // Notes the times and the range of a frame, and how much of its result was measured.
  void note(const InputFrame& frame, const Matched& result);
  // Notes an exception as the frame's failure, and returns it as the error that ends the run.
  Error note_failure(const std::exception_ptr& thrown, const FrontEnd& front_end);
};

struct FrameRecords {
  std::vector<FrameRecord> frames;
  double first_ms = 0;  // from the plan to the first result
  std::size_t workspace_bytes = 0;
  Size result_size;

  std::size_t count(FrameRecord::State state) const;
};

}  // namespace stereopsis::jobs
