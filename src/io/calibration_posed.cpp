// Reads the camera to which depth is registered: a camera with R and T in the notation of OpenCV or ROS, cam2 of a
// Kalibr camchain, EuRoC's sensor.yaml, or RealSense's colour camera.
#include <algorithm>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/file.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace io {
namespace {

using Names = std::initializer_list<const char*>;
constexpr Names matrix_names = {"K", "k", "M", "cameraMatrix", "camera_matrix", "mtx"};
constexpr Names distortion_names = {"D", "d", "distCoeffs", "dist_coeffs", "distortion_coefficients", "dist"};
constexpr Names rotation_names = {"R", "rotation", "rotation_matrix"};
constexpr Names translation_names = {"T", "translation", "translation_vector", "t"};

// Returns the name that the file has; OpenCV and ROS store a matrix as NAME.data.
std::string name_in(const Document& file, Names names, const char* what) {
  for (const char* name : names)
    for (const std::string& full : {text(name, ".data"), std::string(name)})
      if (file.has(full)) return full;
  refuse(text("there is no ", what, " (", *names.begin(),
              ") in the file; depth is registered to a camera with K, D, image_width and image_height, and with R and "
              "T, its pose relative to the left camera"));
}

Lens lens_in(const Document& file) {
  const std::string k = name_in(file, matrix_names, "camera matrix"), d = name_in(file, distortion_names, "distortion");
  const auto coefficients = file.numbers_up_to(d, 14);
  const NamedModel model = model_in(file, {"distortion_model", "camera_model", "model"});
  const bool is_zero = std::ranges::all_of(coefficients, [](double c) { return c == 0; });
  if (model.model.empty() && coefficients.size() == 4 && !is_zero)
    refuse(text(d,
                " has 4 coefficients and the file does not name the lens model; add `distortion_model: radtan` or "
                "`distortion_model: equidistant`"));
  return lens_of(numbers_of_matrix(file, k), model_of(model, coefficients, d, {}), coefficients, k);
}

Size size_in(const Document& file) {
  for (const auto& [width, height] : {std::pair{"image_width", "image_height"}, {"width", "height"}})
    if (const Size size = size_under(file, width, height); size != Size{}) return size;
  refuse("the file has no image size; add image_width and image_height");
}

struct Posed {
  PosedCamera camera;
  std::string unit;
};

Document document_in(const std::filesystem::path& file) {
  const std::string contents = read_file(file, largest_calibration);
  return naming(file, [&] { return Document::parse(contents); });
}

// Reads a camera whose pose is relative to the body.
PosedCamera euroc_beside(const Document& file, const std::filesystem::path& left) {
  if (left.empty())
    throw Error(ErrorCategory::call,
                "T_BS is the pose relative to the body; give the sensor.yaml of the left camera, too");
  const Document left_file = document_in(calibration_files(left).front());
  if (!is_euroc_camera(left_file))
    throw Error(ErrorCategory::call, text("T_BS is the pose relative to the body, and ", left.string(),
                                          " has no T_BS; give the sensor.yaml of the left camera as calibration"));
  return euroc_third(file, left_file);
}

Posed posed_in(const Document& file, const std::filesystem::path& left) {
  if (file.has("cam0.intrinsics")) return {kalibr_third(file), "m"};
  if (is_euroc_camera(file)) return {euroc_beside(file, left), "m"};
  if (has_realsense_third(file)) return {realsense_third(file), "m"};
  const std::string r = name_in(file, rotation_names, "rotation"), t = name_in(file, translation_names, "translation");
  return {{lens_in(file), size_in(file), rotation_of(file, r), vector_of(file, t)}, unit_of(file)};
}

double metres_in(const std::string& unit) { return unit == "mm" ? 1e-3 : 1; }

// Returns the factor that converts lengths of the file to the unit of the rig.
double factor_of(const std::string& of_file, const std::string& of_rig) {
  if (of_file.empty() && (of_rig == "m" || of_rig == "mm"))
    throw Error(ErrorCategory::call, text("the file names no unit of T, and the rig is in ", of_rig,
                                          "; add `unit: m` or `unit: mm` to the file"));
  if (!of_file.empty() && of_rig.empty())
    throw Error(ErrorCategory::call, text("T is in ", of_file,
                                          ", and the calibration of the pair names no unit; add `unit: m` or "
                                          "`unit: mm` to the calibration, or give the baseline with its unit"));
  if (of_rig == no_scale)
    throw Error(ErrorCategory::call, text("T is in ", of_file.empty() ? "an unnamed unit" : of_file,
                                          ", and the calibration of the pair has no scale; estimate it with the length "
                                          "of the baseline"));
  return metres_in(of_file) / metres_in(of_rig);
}

}  // namespace
}  // namespace io

PosedCamera read_posed_camera(const std::filesystem::path& file, const std::optional<std::string>& unit,
                              const std::filesystem::path& left) {
  const io::Document document = io::document_in(file);
  return io::naming(file, [&] {
    auto [camera, of_file] = io::posed_in(document, left);
    if (!unit) return camera;
    for (double& length : camera.translation) length *= io::factor_of(of_file, *unit);
    return camera;
  });
}

}  // namespace stereopsis
