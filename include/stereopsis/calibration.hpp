// Reads and writes files that describe a calibrated pair of cameras.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/registration.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// Selects one of the two rigs of a KITTI file: P0 and P1 (grey images), or P2 and P3 (colour images). `any` prefers
// colour, and `grey_first` prefers grey.
enum class KittiPair { any, grey_first, grey, colour };

// Facts that the caller of a reader knows and the file may lack.
struct CalibrationOptions {
  KittiPair pair = KittiPair::any;  // cameras of a KITTI file that has both grey and colour cameras
  Size size;                        // size of the raw images, for a file that has no size or several; 0×0 if unknown
  // Lens model, for a file that does not name one; a file with another model is an error.
  std::optional<Lens::Model> lens;
  double scale = 1;  // width of the images divided by the width of the calibrated images; > 0
  // True for cameras above each other, the upper one first. The result then describes images whose rows and columns are
  // exchanged, with the upper camera as the left one.
  bool vertical = false;
};

// The contents of the files of a calibration.
struct CalibrationFile {
  std::string format;                        // name of the format, such as "Kalibr camchain"
  Rig rig;                                   // rig of the rectified pair
  std::optional<StereoCalibration> cameras;  // the raw cameras, if the files describe them
  std::optional<Error> no_cameras;           // the reason if `cameras` has no value
  // True if the files had no rectification and the reader computed one, so that the images are raw.
  bool raw_only = false;
  bool vertical = false;              // true if the cameras are above each other; see CalibrationOptions
  std::vector<std::string> warnings;  // contradictions and implausible values, one sentence each
};

// Reads a calibration. docs/calibration.md lists the formats; the contents determine the format. `file` may be a folder
// with the files of a calibration. `second` is the file of the right camera (ROS, EuRoC) or the second of OpenCV's two
// files, extrinsics and intrinsics. If the files contain no rectification, one is computed by the method of OpenCV's
// stereoRectify. Throws Error(file), and Error(format) for contents that are not a calibration. Throws Error(call) for
// a second file that is missing or superfluous, and for options that contradict the file. Throws Error(call) for an
// unknown lens model if the rig can only be computed from the raw cameras. Throws Error(format) for cameras above each
// other without `options.vertical`, and for cameras side by side with it.
CalibrationFile read_calibration_file(const std::filesystem::path& file,
                                      const std::optional<std::filesystem::path>& second = {},
                                      const CalibrationOptions& options = {});
// Returns the files of a calibration: `given` itself, or the files in the folder `given`.
std::vector<std::filesystem::path> calibration_files(const std::filesystem::path& given);

// Return what makes a calibration implausible for images of this size, one sentence each: a rig for images of another
// size, a principal point outside the image, a focal length that is not in pixels, or rectified images that show little
// of what the cameras see. `images` is the size of the rectified images, and `scale` the scale by which the calibration
// was read.
std::vector<std::string> calibration_warnings(const Rig& rig, Size images, double scale = 1);
std::vector<std::string> calibration_warnings(const StereoCalibration& calibration, double scale = 1);
// Returns the factor by which a calibration for images of size `calibrated` must be scaled for `images`. Returns
// nothing if the two sizes have different aspect ratios.
std::optional<double> calibration_scale(Size calibrated, Size images);

// Returns the lens model of this name, such as "radtan" or "equidistant". Throws Error(call) for an unknown name.
Lens::Model lens_model(const std::string& name);

// Returns only the rig, without the warnings of read_calibration_file(). Throws the errors of read_calibration_file().
Rig read_rig(const std::filesystem::path& file, const std::optional<std::filesystem::path>& right = {},
             KittiPair pair = KittiPair::any);

// Returns only the raw cameras, without the warnings of read_calibration_file(). Throws the errors of
// read_calibration_file(), and an Error if the files do not describe raw cameras.
StereoCalibration read_calibration(const std::filesystem::path& file,
                                   const std::optional<std::filesystem::path>& second = {},
                                   KittiPair pair = KittiPair::any, Size size = {});

// Reads the camera to which depth is registered, with its pose relative to the left camera of the pair:
// X = R · X_left + T. Supports files with K, D, image_width, image_height, R and T in the notation of OpenCV or ROS, a
// Kalibr camchain, whose cam2 is read, EuRoC's sensor.yaml, and RealSense parameters with a camera named color or rgb.
// `left` is the calibration of the left camera; only EuRoC, whose poses are relative to the body, requires it. The
// translation is converted to `unit`, the unit of the rig ("" if the rig has none). Without `unit`, the translation
// stays in the unit of the file. Throws Error(file), Error(format) if a part is missing, and Error(call) if `left` is
// missing, or if only one of the file and the rig has a unit.
PosedCamera read_posed_camera(const std::filesystem::path& file, const std::optional<std::string>& unit = {},
                              const std::filesystem::path& left = {});

// Writes a calibration as .yml, .yaml or .xml in the format of OpenCV. The file has all matrices that the readers need:
// image_width, image_height, unit, M1, D1, M2, D2, R, T, R1, R2, P1, P2 and Q. A rig alone is written as P1, P2 and Q.
void write_calibration(const std::filesystem::path& file, const StereoCalibration& calibration);
void write_rig(const std::filesystem::path& file, const Rig& rig);
// Writes a pair of ROS camera_info files; lengths are converted to metres. Throws Error(call) for a rig whose unit is
// unknown.
void write_camera_info(const std::filesystem::path& left, const std::filesystem::path& right,
                       const StereoCalibration& calibration);

}  // namespace stereopsis
