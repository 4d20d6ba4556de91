// The options --calib, --calib-scale, --lens, --focal, --baseline and --doffs.
#pragma once

#include <string>

#include "jobs/rig_source.hpp"
#include "options.hpp"

namespace stereopsis::command {

struct RigOptions : jobs::RigSettings {
  // Adds --calib, --calib-scale and --lens.
  Option add_files_to(Command& command, const std::string& use);
  void add_numbers_to(Command& command);

  jobs::RigSource calibration() const;  // of these options, which must outlive it
};

}  // namespace stereopsis::command
