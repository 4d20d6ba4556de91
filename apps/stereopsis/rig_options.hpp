// The calibration of a call: from files or, of a rectified pair, from three numbers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "call_files.hpp"
#include "options.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::command {

struct RigOptions {
  std::vector<std::string> files;      // --calib, once or twice
  std::optional<double> focal, doffs;  // pixels
  std::string baseline;                // "120mm"

  Option add_files_to(Command& command, const std::string& help);
  void add_numbers_to(Command& command);

  // Refuses numbers without one another, or beside files.
  void check() const;
  bool given() const { return !files.empty() || focal; }
  std::string source() const;  // for messages
  void reads(CallFiles& call) const;

  // Of rectified images of this size. Of a KITTI file's two rigs the grey one where the images are grey and it has that.
  Rig rig(Size images, bool grey) const;
  // Of images as the cameras give them. OpenCV's files may leave out the size, which is then `images`.
  StereoCalibration cameras(Size images, bool grey) const;

 private:
  std::optional<std::filesystem::path> second() const;
  Rig rig_of_numbers(Size images) const;
};

}  // namespace stereopsis::command
