// Types shared by the call of `calibrate` and its work.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command/frames.hpp"
#include "command/group_options.hpp"

namespace stereopsis::command::calibrating {

struct Options {
  std::filesystem::path left, right, output, ros, picture, report;
  std::string board;
  std::optional<double> zoom;
  bool keep_outliers = false;
  std::vector<std::string> scenes;  // one input of pairs, or the left and the right images
  RigOptions rig;
  bool raw = false;
};

// The call, with its views found, paired and checked.
struct Call {
  explicit Call(const Options& given);

  const Options& options;
  Frames left, right;
};

// If the errors of a good board exceed these limits, views are mispaired or the board's measures are wrong; in pixels.
inline constexpr double largest_rms = 5, largest_dy = 2;
// Throws an Error for a rig with larger errors.
void check_errors(double rms, double dy_mean);

// Throws Error(unsupported) without OpenCV.
void calibrate(const Call& call);
// Corrects a calibration from scenes, or calibrates unknown cameras.
void calibrate_from_scenes(const Options& options);

}  // namespace stereopsis::command::calibrating
