// The table of the formats of calibration files, and functions that their readers share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "geometry/stereo_rectify.hpp"
#include "io/calibration_document.hpp"
#include "stereopsis/calibration.hpp"

namespace stereopsis::io {

// The files of one calibration.
struct Inputs {
  std::vector<Document> files;
  CalibrationOptions options;
  std::vector<std::string> names = {};  // names of the files, for error messages

  const Document& first() const { return files.front(); }
  bool is_pair() const { return files.size() > 1; }
  // Returns the file that has `name`, or null.
  const Document* with(std::string_view name) const;
};

// A format. The order of the table matters, because the first matching format reads the files.
struct CalibrationFormat {
  const char* name;
  const char* signature;  // description of the contents by which files of the format are recognised
  const char* source;     // reference to the description of the format
  bool several;           // true if the calibration may consist of several files
  bool (*matches)(const Inputs& inputs);
  CalibrationFile (*read)(const Inputs& inputs);
};

std::span<const CalibrationFormat> calibration_formats();

// Reads a calibration from parsed files. Throws Error(call) and Error(format). If there are several files, the message
// begins with the name of the file.
CalibrationFile calibration_in(const Inputs& inputs);

bool is_middlebury(const Inputs& inputs);
CalibrationFile read_middlebury(const Inputs& inputs);
bool is_kitti(const Inputs& inputs);
CalibrationFile read_kitti(const Inputs& inputs);
bool is_camera_info(const Inputs& inputs);
CalibrationFile read_camera_info(const Inputs& inputs);
bool is_opencv(const Inputs& inputs);
CalibrationFile read_opencv(const Inputs& inputs);
bool is_orbslam(const Inputs& inputs);
CalibrationFile read_orbslam(const Inputs& inputs);
bool is_kalibr(const Inputs& inputs);
CalibrationFile read_kalibr(const Inputs& inputs);
bool is_euroc(const Inputs& inputs);
CalibrationFile read_euroc(const Inputs& inputs);
bool is_camodocal(const Inputs& inputs);
CalibrationFile read_camodocal(const Inputs& inputs);
bool is_zed(const Inputs& inputs);
CalibrationFile read_zed(const Inputs& inputs);
bool is_cityscapes(const Inputs& inputs);
CalibrationFile read_cityscapes(const Inputs& inputs);
bool is_realsense(const Inputs& inputs);
CalibrationFile read_realsense(const Inputs& inputs);
bool is_depthai(const Inputs& inputs);
CalibrationFile read_depthai(const Inputs& inputs);
bool is_colmap(const Inputs& inputs);
CalibrationFile read_colmap(const Inputs& inputs);
bool is_mrpt(const Inputs& inputs);
CalibrationFile read_mrpt(const Inputs& inputs);
bool is_matrix_and_baseline(const Inputs& inputs);
CalibrationFile read_matrix_and_baseline(const Inputs& inputs);
bool is_agisoft(const Inputs& inputs);
CalibrationFile read_agisoft(const Inputs& inputs);

}  // namespace stereopsis::io
