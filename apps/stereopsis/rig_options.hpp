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
  std::vector<std::string> files;  // --calib, given once or twice
  std::optional<double> doffs;     // pixels
  std::optional<double> scale;     // --calib-scale
  std::string lens;                // --lens
  std::string focal;               // "1400" or "1400px"
  std::optional<Length> baseline;

  // Adds --calib, --calib-scale and --lens.
  Option add_files_to(Command& command, const std::string& use);
  void add_numbers_to(Command& command);

  // Throws an Error for incomplete numbers, and for numbers together with files.
  void check() const;
  bool given() const { return !files.empty() || !focal.empty(); }
  std::string source() const;  // for messages
  void reads(CallFiles& call) const;

  // Returns a length of another option in the unit of the rig; a number without a unit is in this unit. Throws an Error
  // for a unit that cannot be converted, and for a number without a unit beside a baseline in cm or inches.
  double in_unit_of(const Rig& rig, const std::string& option, const Length& length) const;
  // Returns how to name the unit of a rig that has none; "" for a rig that has one.
  std::string how_to_name_the_unit(const Rig& rig) const;

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
