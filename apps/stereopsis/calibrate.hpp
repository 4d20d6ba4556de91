// What `calibrate` shares between its call, which every build has, and its work, which needs OpenCV.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "frames.hpp"

namespace stereopsis::command::calibrating {

struct Options {
  std::filesystem::path left, right, output, ros, picture, report;
  std::string board;
  std::optional<double> zoom;
  bool keep_outliers = false;
};

// The call with its views found, paired and checked.
struct Call {
  explicit Call(const Options& given);

  const Options& options;
  Frames left, right;
};

// Where even a good board leaves this much, views are mispaired or the board's measures are wrong; pixels.
inline constexpr double largest_rms = 5, largest_dy = 2;
// Refuses a rig of such errors.
void check_errors(double rms, double dy_mean);

// calibrate_opencv.cpp, or calibrate_none.cpp, which says what is missing.
void calibrate(const Call& call);

}  // namespace stereopsis::command::calibrating
