// The record of a run of a sequence: a file next to the results that identifies the call, so that the run can be
// resumed. A frame is complete if its files are as long as their headers announce and have the size of this call's
// results. It belongs to this call if its files are not older than the sidecar and their inputs.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jobs/front_end.hpp"
#include "jobs/output_file.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::jobs {

using Json = nlohmann::ordered_json;

// A frame's inputs, and its outputs in the order in which they are written.
struct FrameFiles {
  std::vector<std::filesystem::path> inputs;
  std::vector<OutputFile> outputs;
};

class Record {
 public:
  // `file` is where the record lies. The front end must outlive the object.
  Record(std::filesystem::path file, FrontEnd& front_end) : file_(std::move(file)), front_end_(front_end) {}

  // Returns the range that the earlier run estimated. Throws an Error for a file that is no record.
  std::optional<DisparityRange> range_before() const;
  // Returns which frames an earlier run of this call has completed, if the run resumes it. Writes the record with
  // `contents` if there is none, or if nothing is to be resumed. `contents` are {"call": everything that a result
  // depends on except the images, by names that a user knows, …}. Throws an Error for results of another call;
  // `results` is their location.
  std::vector<bool> frames_there(const Json& contents, const std::vector<FrameFiles>& frames, bool resumes,
                                 const std::filesystem::path& results) const;

 private:
  Json read() const;
  void check_same_call(const Json& call, const std::filesystem::path& results) const;

  const std::filesystem::path file_;
  FrontEnd& front_end_;
};

// Returns the lines of calibration files, which a call depends on.
Json lines_of(const std::vector<std::string>& files);

}  // namespace stereopsis::jobs
