// Options that several subcommands share: regions without contrast, intensities, the calibration, the rows of datasets.
#pragma once

#include <string>

#include "command/options.hpp"
#include "jobs/constant_settings.hpp"
#include "jobs/intensities.hpp"
#include "jobs/rig_source.hpp"
#include "jobs/rows.hpp"
#include "stereopsis/dataset.hpp"

namespace stereopsis::command {

// --mask-black and --measure-constant.
struct ConstantOptions : jobs::ConstantSettings {
  void add_to(Command& command);
  void check() const;
};

// --bit-depth, --black and --white.
struct IntensityOptions : jobs::Intensities {
  void add_to(Command& command);
};

// --calib, --calib-scale, --lens, --focal, --baseline and --doffs.
// Parses a focal length in pixels. Throws an Error for another unit.
double to_focal(const std::string& text);

struct RigOptions : jobs::RigSettings {
  // Adds --calib, --calib-scale and --lens.
  Option add_files_to(Command& command, const std::string& use);
  void add_numbers_to(Command& command);

  // Returns the calibration that these options name; they must outlive it.
  jobs::RigSource calibration() const;
};

// --align-rows of commands that match the scenes of datasets.
struct RowOptions {
  std::string how = "off";

  // The option requires the option `dataset`.
  void add_to(Command& command, const Option& dataset);
  // Throws an Error for a value that is not allowed.
  jobs::RowSettings settings() const;
};

// Reads a scene whose right image is aligned, for our methods and for other stereo matchers.
LoadedScene load_scene(const DatasetScene& scene, const jobs::RowSettings& rows);

}  // namespace stereopsis::command
