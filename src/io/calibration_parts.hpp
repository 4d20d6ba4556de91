// The parts of a calibration file that several formats share: sizes, matrices, poses, lenses, projections.
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

[[noreturn]] void refuse(const std::string& sentence);  // throws Error(format)

// Calls f with file `i`, whose name begins the sentence of any error.
template <class F>
auto of_file(const Inputs& inputs, std::size_t i, F&& f) {
  try {
    return f(inputs.files[i]);
  } catch (const Error& error) {
    if (i >= inputs.names.size()) throw;
    throw Error(error.category(), inputs.names[i] + ": " + error.what());
  }
}

// Throws Error(call): the file describes one camera, and that of the other is missing.
void require_pair(const Inputs& inputs, const char* what);

Size size_of(double width, double height);
// Returns the size stored under two names, or 0×0 if the file has neither.
Size size_under(const Document& file, const std::string& width, const std::string& height);
// Returns the size of the images that were calibrated, which the file lacks, or throws Error(format).
Size size_of_images(const Inputs& inputs);

Matrix3 matrix_of(const Document& file, const std::string& name);
// Returns a rotation, given as a matrix or as axis and angle.
Matrix3 rotation_of(const Document& file, const std::string& name);
Vector3 vector_of(const Document& file, const std::string& name);
Matrix3 checked_rotation(const Matrix3& r, const std::string& name);
// Returns the motion of a 4×4 matrix, row by row.
Pose pose_of(const Document& file, const std::string& name);

// The name of a lens model in a file, and the key that has it; both are empty if the file does not name the model.
struct NamedModel {
  std::string key, model;
};
// Returns the first of these keys that the file has.
NamedModel model_in(const Document& file, std::initializer_list<const char*> keys);
// Returns the model, from the file or else from the caller. `what` names the coefficients. Throws Error(call) if neither
// tells how four coefficients are meant.
Lens::Model model_of(const NamedModel& named, const std::vector<double>& coefficients, const std::string& what,
                     const CalibrationOptions& options);
// Returns a lens. `k` is fx, fy, cx, cy; `what` names these numbers and the coefficients.
Lens lens_of(const std::array<double, 4>& k, Lens::Model model, const std::vector<double>& coefficients,
             const std::string& what);
// Returns fx, fy, cx, cy of a camera matrix. Throws Error(format) for skew.
std::array<double, 4> numbers_of_matrix(const Document& file, const std::string& name);

Rig checked(Rig rig);
std::vector<double> projection_of(const std::vector<double>& k, double x);
// Returns the rig of two projections K·(I | t), 3×4, row by row.
Rig rig_of_projections(const std::string& left_name, const std::vector<double>& left, const std::string& right_name,
                       const std::vector<double>& right, const char* unit, Size size);

// Returns the calibration of cameras whose rectification is computed.
CalibrationFile computed(const RawPair& pair);
// Returns the same with the left camera first, for formats that number their cameras.
CalibrationFile computed_left_first(RawPair pair);
// Returns the calibration of a rectified pair. Its raw cameras are `read()`, or missing for the reason that it throws.
CalibrationFile rectified(const Rig& rig, const std::function<StereoCalibration()>& read);
// Returns cam2 of a Kalibr camchain, with its pose relative to the left one of cam0 and cam1, in metres.
PosedCamera kalibr_third(const Document& file);
// Derives R and T from the rectification: X_right = R2ᵀ·(R1·X_left − (B, 0, 0)).
Pose pose_of_rectification(const StereoCalibration& c);

}  // namespace stereopsis::io
