// The call of `match`: its options, the run that they describe, and what is printed about it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command/common.hpp"
#include "command/front_end.hpp"
#include "command/group_options.hpp"
#include "command/pairs.hpp"
#include "command/video.hpp"
#include "jobs/file_run.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher_group.hpp"

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
  FileRunSettings run;  // options that are settings of a run; check() adds the others
  MethodOptions method;
  DeviceOptions device;
  PairOptions pairing;
  IntensityOptions intensity;
  ConstantOptions constant;
  RigOptions rig;
  ColorOptions color;
  std::string roi, frame, format, rows, budget;
  std::string own_device;  // the device of a method from outside the library
  bool timings = false, no_fill = false, second_pass = false, measured_only = false, explain = false, json = false;
  std::vector<std::string> volumes, probes;  // STATE=FILE, X,Y
};

// Throws an Error for options that do not go together, and fills in the settings of the run.
void check(Options& options);

// A call after all its files were found and checked.
struct Call {
  const Options& options;
  CommandFrontEnd& front_end;
  FileRun run;
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
void print_probes(const Call& call);

// Returns everything that a result depends on, except the images and a range that was estimated from them, by the names
// of options: match_record.cpp.
Json description_of(const Call& of);

// match_plan.cpp: describes the plan of the first frame.
Explanation explain(const Call& call);
Json to_json(const Explanation& explanation);

// match_report.cpp
void print_timings(const Call& call, const FrameRecords& records);
void print_summary(const Call& call, const FrameRecords& records);
void write_report(const Call& call, const FrameRecords& records, const std::optional<Explanation>& plan);

}  // namespace stereopsis::command::matching
