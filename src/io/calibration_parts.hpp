// Readers for the parts of a calibration file that several formats share: sizes, matrices, poses, lenses, projections.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "geometry/stereo_rectify.hpp"
#include "io/calibration_formats.hpp"
#include "stereopsis/registration.hpp"

namespace stereopsis::io {

inline constexpr std::uintmax_t largest_calibration = std::uintmax_t{1} << 22;  // bytes of a file

[[noreturn]] void refuse(const std::string& sentence);  // throws Error(format)

// Calls f with file `i`. The message of any error begins with the name of this file.
template <class F>
auto of_file(const Inputs& inputs, std::size_t i, F&& f) {
  try {
    return f(inputs.files[i]);
  } catch (const Error& error) {
    if (i >= inputs.names.size()) throw;
    throw Error(error.category(), inputs.names[i] + ": " + error.what());
  }
}

// Throws Error(call) because the file describes only one camera, unless there is a second file.
void require_pair(const Inputs& inputs, const char* what);

// Returns the unit of lengths that the file names: "mm", "m", or "". Throws Error(format) for another unit.
std::string unit_of(const Document& file);
Size size_of(double width, double height);
// Returns the size stored under two names, or 0×0 if the file has neither.
Size size_under(const Document& file, const std::string& width, const std::string& height);
// Returns the size of the calibrated images, which the caller must know because the file has none. Throws Error(format)
// otherwise.
Size size_of_images(const Inputs& inputs);

Matrix3 matrix_of(const Document& file, const std::string& name);
// Returns a rotation, given as a matrix or as axis and angle.
Matrix3 rotation_of(const Document& file, const std::string& name);
Vector3 vector_of(const Document& file, const std::string& name);
Matrix3 checked_rotation(const Matrix3& r, const std::string& name);
// Returns the motion described by a 4×4 matrix, stored row by row.
Pose pose_of(const Document& file, const std::string& name);

// The name of a lens model in a file, and the key under which it is stored. Name and key are empty if the file does not
// name the model.
struct NamedModel {
  std::string key, model;
};
// Returns the lens model under the first of these keys that the file has.
NamedModel model_in(const Document& file, std::initializer_list<const char*> keys);
// Returns the lens model that the file or else the caller names. `what` describes the coefficients in error messages.
// Throws Error(call) if there are four coefficients, and neither the file nor the caller names the model.
Lens::Model model_of(const NamedModel& named, const std::vector<double>& coefficients, const std::string& what,
                     const CalibrationOptions& options);
// Returns a lens. `k` has fx, fy, cx and cy; `what` describes these numbers and the coefficients in error messages.
Lens lens_of(const std::array<double, 4>& k, Lens::Model model, const std::vector<double>& coefficients,
             const std::string& what);
// Returns fx, fy, cx, cy of a camera matrix. Throws Error(format) if the matrix has skew.
std::array<double, 4> numbers_of_matrix(const Document& file, const std::string& name);

Rig checked(Rig rig);
std::vector<double> projection_of(const std::vector<double>& k, double x);
// Returns whether two 3×4 projections K·(I | t), stored row by row, are of cameras above each other.
bool is_vertical(const std::vector<double>& first, const std::vector<double>& second);
// Throws Error(format) for cameras above each other that are not wanted, and for cameras side by side if they are.
void check_direction(bool is_vertical, bool wants_vertical);
// Exchanges rows and columns of the images of cameras above each other, if they are wanted.
void exchange_if_vertical(std::vector<double>& first, std::vector<double>& second, Size& size, bool wanted);
// Returns the rig for two projections.
Rig rig_of_projections(const std::string& left_name, const std::vector<double>& left, const std::string& right_name,
                       const std::vector<double>& right, const char* unit, Size size);

// Returns whether the principal point shows that a rectified pair has another size. stereoRectify places it near the
// middle of images of newImageSize, which OpenCV does not store.
bool is_for_another_size(const Rig& rig, Size size);

// Returns whether the second camera is to the left of the first; false for cameras above each other.
bool is_left_of_first(const Pose& second_from_first);
// Computes the rectification of two cameras, and returns the calibration. For cameras above each other, rows and
// columns of the images are exchanged.
CalibrationFile computed(const RawPair& pair);
// Does the same for formats that number their cameras. The left camera becomes the first one, with a warning if it is
// the second one in the file.
CalibrationFile computed_left_first(RawPair pair);
// Returns the calibration of a rectified pair. The raw cameras of the calibration are the result of `read()`. If read()
// throws, they are missing, and the error is the reason.
CalibrationFile rectified(const Rig& rig, const std::function<StereoCalibration()>& read);
// Return a third camera with its pose relative to the left camera, in metres: cam2 of a Kalibr camchain, the camera of
// EuRoC's `file` beside the left camera of `left`, and the camera named color or rgb in RealSense parameters.
PosedCamera kalibr_third(const Document& file);
PosedCamera euroc_third(const Document& file, const Document& left);
PosedCamera realsense_third(const Document& file);
bool is_euroc_camera(const Document& file);
bool has_realsense_third(const Document& file);
// Exchanges rows and columns of the images of raw cameras.
void exchange_axes(StereoCalibration& c);
// Derives R and T from the rectification: X_right = R2ᵀ·(R1·X_left − (B, 0, 0)).
Pose pose_of_rectification(const StereoCalibration& c);

}  // namespace stereopsis::io
