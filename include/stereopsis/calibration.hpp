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

// The choice between a KITTI file's two rigs: P0 and P1 (grey images), or P2 and P3 (colour images). any: colour if the
// file has it, else grey; grey_first: the other way round.
enum class KittiPair { any, grey_first, grey, colour };

// Facts that the caller of a reader knows and the file may lack.
struct CalibrationOptions {
  KittiPair pair = KittiPair::any;  // cameras of a KITTI file that has grey and colour ones
  Size size;                        // size of the raw images if the file lacks it or has several; 0×0: unknown
  std::optional<Lens::Model> lens;  // model of the lenses if the file does not name it; a different name is an error
  double scale = 1;                 // width of the images / width of the images that were calibrated; > 0
};

// The contents of the files of a calibration.
struct CalibrationFile {
  std::string format;                        // name of the format, such as "Kalibr camchain"
  Rig rig;                                   // rig of the rectified pair
  std::optional<StereoCalibration> cameras;  // the raw cameras, if the files describe them
  std::optional<Error> no_cameras;           // if not: the reason
  bool raw_only = false;                     // the files lack a rectification, which the images need: it was computed
  std::vector<std::string> warnings;         // contradictions and implausible values, one sentence each
};

// Reads a calibration. docs/calibration.md lists the formats; the contents determine the format. `file` may be a folder
// with the files of a calibration. `second` is the file of the right camera (ROS, EuRoC) or the other one of OpenCV's
// extrinsics and intrinsics. A rectification that is not in the files is computed by the method of OpenCV's
// stereoRectify. Throws Error(file); Error(format) for contents that are not a calibration; and Error(call) for a
// second file that is missing or superfluous, for options that contradict the file, and, if nothing else than the raw
// cameras gives the rig, for a lens model that is not known.
CalibrationFile read_calibration_file(const std::filesystem::path& file,
                                      const std::optional<std::filesystem::path>& second = {},
                                      const CalibrationOptions& options = {});
// Returns the files of a calibration: `given` itself, or those in the folder `given`.
std::vector<std::filesystem::path> calibration_files(const std::filesystem::path& given);

// Return what makes a calibration implausible for its images, one sentence each: a principal point outside
// the image, or a focal length that is not in pixels.
// `images` is the size of the rectified images.
std::vector<std::string> calibration_warnings(const Rig& rig, Size images);
std::vector<std::string> calibration_warnings(const StereoCalibration& calibration);
// Returns the scale with which a calibration for images of size `calibrated` applies to `images`; nothing if the images
// are not only scaled.
std::optional<double> calibration_scale(Size calibrated, Size images);

// Returns the model with one of its names, such as "radtan" or "equidistant". Throws Error(call).
Lens::Model lens_model(const std::string& name);

// Returns only the rig; throws as read_calibration_file().
Rig read_rig(const std::filesystem::path& file, const std::optional<std::filesystem::path>& right = {},
             KittiPair pair = KittiPair::any);

// Returns only the raw cameras; throws as read_calibration_file(), and if the files do not describe the raw cameras.
StereoCalibration read_calibration(const std::filesystem::path& file,
                                   const std::optional<std::filesystem::path>& second = {},
                                   KittiPair pair = KittiPair::any, Size size = {});

// Reads the camera to which depth is registered, with its pose relative to the left camera of the pair:
// X = R · X_left + T. Supports files with K, D, image_width, image_height, R and T in the notation of OpenCV or ROS,
// and a Kalibr camchain, whose cam2 is read. The translation is converted to `unit` if the file states its own. Throws
// Error(file), and Error(format) for contents that lack a part.
PosedCamera read_posed_camera(const std::filesystem::path& file, const std::string& unit = "");

// Writes .yml, .yaml or .xml files as OpenCV does, with everything that the readers need: image_width, image_height,
// unit, M1, D1, M2, D2, R, T, R1, R2, P1, P2 and Q. A rig alone is written as P1, P2 and Q.
void write_calibration(const std::filesystem::path& file, const StereoCalibration& calibration);
void write_rig(const std::filesystem::path& file, const Rig& rig);
// Writes a pair of ROS camera_info files; lengths are converted to metres. Throws Error(call) for a rig whose unit is
// unknown.
void write_camera_info(const std::filesystem::path& left, const std::filesystem::path& right,
                       const StereoCalibration& calibration);

}  // namespace stereopsis
