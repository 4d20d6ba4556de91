// The options --calib, --calib-scale, --lens, --focal, --baseline and --doffs.
#pragma once

#include <string>

#include "command/options.hpp"
#include "jobs/rig_source.hpp"

namespace stereopsis::command {

struct RigOptions : jobs::RigSettings {
  // Adds --calib, --calib-scale and --lens.
  Option add_files_to(Command& command, const std::string& use);
  void add_numbers_to(Command& command);

  // Returns the calibration that these options name; they must outlive it.
  jobs::RigSource calibration() const;
};

}  // namespace stereopsis::command
