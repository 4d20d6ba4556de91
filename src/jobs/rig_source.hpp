// The calibration of a run: from files or, for a rectified pair, from three numbers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/call_files.hpp"
#include "jobs/setting_names.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/length.hpp"

namespace stereopsis::jobs {

// The settings calib, doffs, calib_scale, lens, focal and baseline.
struct RigSettings {
  std::vector<std::string> files;  // one file, or one for each camera
  std::optional<double> doffs;     // pixels
  std::optional<double> scale;     // width of the images / width for which the files were computed
  std::string lens;                // model of a file that does not name one
  std::optional<double> focal;     // pixels
  std::optional<Length> baseline;

  bool given() const { return !files.empty() || focal; }
};

class RigSource {
 public:
  // Both arguments must outlive the object.
  RigSource(const RigSettings& settings, const SettingNames& names) : settings_(settings), names_(names) {}

  // Throws an Error for incomplete numbers, and for numbers together with files.
  void check() const;
  std::string name() const;  // for messages
  void reads(CallFiles& call) const;

  // Returns the length of a setting in the unit of the rig; a number without a unit is in this unit. Throws an Error
  // for a unit that cannot be converted, and for a number without a unit beside a baseline in cm or inches.
  double in_unit_of(const Rig& rig, const std::string& setting, const Length& length) const;
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
  std::string spelled(std::string_view setting) const { return names_.spelled(setting); }
  CalibrationFile read(Size images, bool grey, bool vertical) const;
  Rig rig_of_numbers(Size images) const;

  const RigSettings& settings_;
  const SettingNames& names_;
};

}  // namespace stereopsis::jobs
