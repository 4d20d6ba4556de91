// The calibration of a call: from files or, for a rectified pair, from three numbers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "frames.hpp"
#include "options.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::command {

struct RigOptions {
  std::vector<std::string> files;      // --calib, given once or twice
  std::optional<double> focal, doffs;  // pixels
  std::optional<double> scale;         // --calib-scale
  std::string lens;                    // --lens
  std::string baseline;                // "120mm"

  // Adds --calib, --calib-scale and --lens.
  Option add_files_to(Command& command, const std::string& use);
  void add_numbers_to(Command& command);

  // Throws an Error for incomplete numbers, and for numbers together with files.
  void check() const;
  bool given() const { return !files.empty() || focal; }
  std::string source() const;  // for messages
  void reads(CallFiles& call) const;

  // Returns the calibration of rectified images of this size, with the warnings about it. A KITTI file has two rigs;
  // its grey one is used if the images are grey and it exists. If `vertical`, the cameras are above each other, and
  // rows and columns of the images were exchanged.
  CalibrationFile rectified(Size images, bool grey, bool vertical = false) const;
  // Returns the calibration of raw images. OpenCV's files may lack the size, which is then `images`.
  CalibrationFile raw(Size images, bool grey, bool vertical = false) const;
  // Throws an Error if the calibration is for images of another size than those of `file`.
  void check_size(Size calibrated, const std::filesystem::path& file, Size images) const;

 private:
  CalibrationFile read(Size images, bool grey, bool vertical) const;
  Rig rig_of_numbers(Size images) const;
};

}  // namespace stereopsis::command
