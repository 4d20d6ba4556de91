// Reads the camera to which depth is registered: a camera with R and T in the notation of OpenCV or ROS, or cam2 of a
// Kalibr camchain.
#include <algorithm>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/file.hpp"
#include "io/tokens.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace io {
namespace {

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 22;

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

Posed posed_in(const Document& file) {
  if (file.has("cam0.intrinsics")) return {kalibr_third(file), "m"};
  const std::string r = name_in(file, rotation_names, "rotation"), t = name_in(file, translation_names, "translation");
  const std::string unit = file.word("unit");
  if (!unit.empty() && unit != "mm" && unit != "m")
    refuse(text("the unit is '", Tokens::printable(unit, 40), "'; it must be mm or m, or be left out"));
  return {{lens_in(file), size_in(file), rotation_of(file, r), vector_of(file, t)}, unit};
}

double metres_in(const std::string& unit) { return unit == "mm" ? 1e-3 : 1; }

}  // namespace
}  // namespace io

PosedCamera read_posed_camera(const std::filesystem::path& file, const std::string& unit) {
  const std::string contents = io::read_file(file, io::largest_file);
  return io::naming(file, [&] {
    auto [camera, of_file] = io::posed_in(io::Document::parse(contents));
    if (of_file.empty() || unit.empty()) return camera;
    for (double& length : camera.translation) length *= io::metres_in(of_file) / io::metres_in(unit);
    return camera;
  });
}

}  // namespace stereopsis
