// Types shared by the parts of `match`: the call, which determines the files that are read and written; its frames;
// their records.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "constant_options.hpp"
#include "front_end.hpp"
#include "intensity_options.hpp"
#include "jobs/loop.hpp"
#include "jobs/memory_budget.hpp"
#include "jobs/pair_checks.hpp"
#include "jobs/pixels.hpp"
#include "jobs/problems.hpp"
#include "jobs/record.hpp"
#include "jobs/sinks.hpp"
#include "pairs.hpp"
#include "rig_options.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/registration.hpp"
#include "video.hpp"

namespace stereopsis::command::matching {

namespace fs = std::filesystem;

using namespace jobs;

// The options of --color and --depth-color.
struct ColorOptions {
  std::string map, range;  // names of a colour map, and of a range: LOW,HIGH, auto or sequence; empty: the default
  bool no_legend = false, show_filled = false;

  void add_to(Command& command);
  bool given() const { return !map.empty() || !range.empty() || no_legend || show_filled; }
  // Throws an Error for values that are not allowed.
  PictureSettings settings() const;
};

struct Options {
  InputSettings input;
  CameraSettings cameras;
  RangeSettings range;
  SinkSettings sinks;
  MethodOptions method;
  DeviceOptions device;
  PairOptions pairing;
  IntensityOptions intensity;
  ConstantOptions constant;
  RigOptions rig;
  ColorOptions color;
  std::optional<double> disparity_error, min_confidence;
  MemoryLimit memory;
  std::string roi, frame, format;
  bool timings = false, no_fill = false, measured_only = false, fill_depth = false, strict = false, resume = false,
       explain = false, json = false;
  std::vector<std::string> volumes, probes;  // STATE=FILE, X,Y
};

// Throws an Error for options that do not go together, and fills in the settings of the sinks.
void check(Options& options);

// The call after all its files are found and checked: only single frames can still fail.
class MatchJob : public LoopFrames {
 public:
  MatchJob(const Options& given, CommandFrontEnd& text);

  std::string name(std::size_t i) const override { return inputs.left().name(i); }
  Plan first_plan() const override { return problems->plan(first); }
  // match_record.cpp
  std::vector<bool> there(Size result) const override;
  // Reads a frame with its range, rectified if that is done ahead.
  InputFrame take(std::size_t i) override;
  Problem problem(const InputFrame& frame, bool of_right) const override { return problems->of(frame, of_right); }
  std::optional<std::vector<PairFault>> sampled_faults(const InputFrame& frame, std::size_t i) const override {
    return checks->sampled_faults(frame, i);
  }
  std::string judge_measured(const InputFrame& frame, std::size_t i, double measured,
                             const std::optional<std::vector<PairFault>>& sampled) override {
    return checks->judge_measured(frame, i, measured, sampled);
  }
  bool is_in_order() const;  // frames are read and written one after the other
  std::string device_names() const;
  const Device& device() const { return matching.devices.front(); }
  // Returns the size of the written maps for results of this size.
  Size written_size(Size result) const {
    return options.sinks.crop ? Size{matching.region->width, matching.region->height} : as_stored(result);
  }
  // Returns a size with rows and columns as in the files: with --vertical, they are exchanged for matching.
  Size as_stored(Size matched) const { return options.input.vertical ? Size{matched.height, matched.width} : matched; }
  Size size() const { return cameras->matched_size(); }  // the size of the matched pairs
  ResultFacts facts() const;

  const Options& options;
  CommandFrontEnd& front_end;
  const Complaints complaints;
  MatchingSettings matching;
  Inputs inputs;
  std::optional<Cameras> cameras;
  std::optional<MemoryBudget> memory;
  std::optional<Problems> problems;
  std::optional<SearchRange> range;
  std::optional<PairChecks> checks;
  std::optional<Sinks> sinks;
  InputFrame first;  // the first that can be read
  int channels = 1, bit_depth = 8;
  std::vector<std::pair<int, int>> probed;  // x, y
  std::shared_ptr<const AnyImage> costs;    // from --cost-volume

 private:
  // match_volumes.cpp
  void find_volumes();
  void read_volumes();
  void check_probes() const;
  void check_unit() const;
  void check_sequence_options() const;
  void choose_cameras();
  void choose_region();
  void choose_range();
  void name_outputs();
};

// A step of the plan as --explain prints it. Equal steps, such as those of strips, are combined.
struct PlannedStep {
  PlanStep step;
  int times = 1;
  Roof roof;
};

struct Explanation {
  Plan plan;
  std::vector<PlannedStep> steps;
};

// match_volumes.cpp
void print_probes(const MatchJob& call);

// Returns everything that a result depends on, except the images and a range that was estimated from them, by the names
// of options: match_record.cpp.
Json description_of(const MatchJob& of);

// match_plan.cpp: describes the plan of the first frame.
Explanation explain(const MatchJob& call);
Json to_json(const Explanation& explanation);

// match_report.cpp
void print_timings(const MatchJob& call, const FrameRecords& records);
void print_summary(const MatchJob& call, const FrameRecords& records);
void write_report(const MatchJob& call, const FrameRecords& records, const std::optional<Explanation>& plan);

}  // namespace stereopsis::command::matching
