// Reads the results of OpenCV's stereoCalibrate and stereoRectify, as YAML, XML or JSON. The results are the cameras
// M1, D1, M2, D2 with R and T, and the rectification R1, R2, P1, P2 or Q. A missing rectification is computed. P2(0, 3)
// = −f · baseline. The unit is that of the calibration board. `stereopsis calibrate` writes the unit to the file, but
// OpenCV does not. The matrices may be divided between two files.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.hpp"
#include "geometry/exchanged_axes.hpp"
#include "io/calibration_parts.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

constexpr double largest_angle = 0.1;  // largest angle, in degrees, between R and the rotation from R1 and R2
// Largest difference between T and the translation from R2 and P2, as a share of the baseline.
constexpr double largest_offset = 0.01;

using Names = std::initializer_list<const char*>;
constexpr Names matrix_names = {"M",  "K",  "cameraMatrix", "camera_matrix", "CameraMatrix", "camera_matrix_",
                                "K_", "M_", "mtx",          "cameraMatrix_", "intrinsic",    "intrinsics_"};
constexpr Names distortion_names = {"D",           "distCoeffs",  "dist_coeffs", "distortion", "dist_coeffs_",
                                    "distCoeffs_", "distortion_", "dist",        "DistCoeffs", "D_",
                                    "dist_"};
constexpr Names rectification_names = {"R", "rectification", "rectification_matrix"};
constexpr Names projection_names = {"P", "projection", "projection_matrix"};
constexpr Names rotation_names = {"R", "rotation", "rotation_matrix", "rotationMatrix", "Rotation", "om"};
constexpr Names translation_names = {"T", "translation", "translation_vector", "translationVector", "Translation", "t"};

// A value, and the file that contains it.
struct Found {
  const Document* file = nullptr;
  std::string name;

  explicit operator bool() const { return file != nullptr; }
};

// Finds a matrix, which OpenCV stores as NAME.data and other programs as NAME.
Found find(const Inputs& inputs, const std::string& name) {
  for (const std::string& full : {text(name, ".data"), name})
    if (const Document* file = inputs.with(full)) return {file, full};
  return {};
}

Found find_any(const Inputs& inputs, Names names) {
  for (const char* name : names)
    if (const Found found = find(inputs, name)) return found;
  return {};
}

// Finds a matrix of camera 1 or 2: M1, M_left, left_M, ML, or LEFT.M as in the settings of ORB-SLAM.
Found find_of_camera(const Inputs& inputs, Names names, int camera) {
  const char *const word = camera == 1 ? "left" : "right", *const letter = camera == 1 ? "L" : "R";
  const char* const group = camera == 1 ? "LEFT." : "RIGHT.";
  for (const char* name : names)
    for (const std::string& full : {text(name, camera), text(name, word), text(name, '_', word), text(word, '_', name),
                                    text(name, letter), text(group, name)})
      if (const Found found = find(inputs, full)) return found;
  return {};
}

Found need(const Found& found, const std::string& what) {
  if (!found) refuse(text("there is no ", what, " in the file; the file is cut off, or has another format"));
  return found;
}

bool has_rectification(const Inputs& inputs) {
  return find_of_camera(inputs, projection_names, 1) || find(inputs, "Q");
}

Size size_in(const Inputs& inputs) {
  for (const Document& file : inputs.files) {
    for (const char* name : {"image_size", "imageSize", "img_size", "size", "resolution"})
      if (file.has(name)) {
        const auto numbers = file.numbers(name, 2);
        return size_of(numbers[0], numbers[1]);
      }
    for (const auto& [width, height] :
         {std::pair{"image_width", "image_height"}, {"width", "height"}, {"LEFT.width", "LEFT.height"}})
      if (const Size size = size_under(file, width, height); size != Size{}) return size;
  }
  return {};
}

std::string unit_in(const Inputs& inputs) {
  const Document* file = inputs.with("unit");
  return file == nullptr ? "" : unit_of(*file);
}

NamedModel model_key(const Document& file) {
  for (const char* omnidirectional : {"xi", "xi1", "xi_1"})  // cv::omnidir
    if (file.has(omnidirectional) || file.has_below(omnidirectional)) return {"the lens with xi", "omnidirectional"};
  if (const std::string flag = file.word("fisheye_model"); !flag.empty())
    return {"fisheye_model", flag == "0" || flag == "false" ? "radtan" : "fisheye"};
  return model_in(file, {"distortion_model", "camera_model", "model_type", "lens_model", "model"});
}

Lens lens(const Inputs& inputs, int camera) {
  const Found matrix = find_of_camera(inputs, matrix_names, camera);
  if (!matrix)
    refuse(text("there is no M", camera,
                ", so the file describes only rectified images; leave --raw out, or give the calibration of the raw "
                "cameras"));
  const Found distortion = need(find_of_camera(inputs, distortion_names, camera), text("D", camera));
  const auto coefficients = distortion.file->numbers_up_to(distortion.name, 14);
  return lens_of(numbers_of_matrix(*matrix.file, matrix.name),
                 model_of(model_key(*distortion.file), coefficients, distortion.name, inputs.options), coefficients,
                 text(matrix.name, " with ", distortion.name));
}

bool has_vertical_projections(const Inputs& inputs) {
  const Found p1 = find_of_camera(inputs, projection_names, 1), p2 = find_of_camera(inputs, projection_names, 2);
  return p1 && p2 && is_vertical(p1.file->numbers(p1.name, 12), p2.file->numbers(p2.name, 12));
}

Rig rig_in(const Inputs& inputs) {
  Size size = size_in(inputs);
  if (const Document* file = inputs.with("rectified_size")) {
    const auto numbers = file->numbers("rectified_size", 2);
    size = size_of(numbers[0], numbers[1]);
  }
  const Found p1 = find_of_camera(inputs, projection_names, 1), p2 = find_of_camera(inputs, projection_names, 2);
  const Found q = find(inputs, "Q");
  if (p1 && (p2 || !q)) {
    need(p2, "P2");
    auto first = p1.file->numbers(p1.name, 12), second = p2.file->numbers(p2.name, 12);
    exchange_if_vertical(first, second, size, inputs.options.vertical);
    Rig rig = rig_of_projections("P1", first, "P2", second, unit_in(inputs).c_str(), size);
    // The size in the file is that of the raw images.
    const bool is_raw = find_of_camera(inputs, matrix_names, 1) && inputs.with("rectified_size") == nullptr;
    if (is_raw && size != Size{} && is_for_another_size(rig, size)) rig.size = {};
    return rig;
  }
  const auto numbers = q.file->numbers(q.name, 16);
  std::array<double, 16> elements{};
  std::copy(numbers.begin(), numbers.end(), elements.begin());
  Rig rig = rig_of_reprojection(elements);
  rig.unit = unit_in(inputs);
  rig.size = size;
  return checked(rig);
}

// Returns R and T if the file has both.
std::optional<Pose> pose_in(const Inputs& inputs) {
  const Found r = find_any(inputs, rotation_names), t = find_any(inputs, translation_names);
  if (!r || !t) return std::nullopt;
  return Pose{rotation_of(*r.file, r.name), vector_of(*t.file, t.name)};
}

StereoCalibration cameras_in(const Inputs& inputs, const Rig& rig, bool vertical) {
  StereoCalibration c;
  c.rig = rig;
  c.size = size_in(inputs);
  c.left.lens = lens(inputs, 1);
  c.right.lens = lens(inputs, 2);
  if (c.size == Size{}) c.size = size_of_images(inputs);
  const Found r1 = need(find_of_camera(inputs, rectification_names, 1), "R1");
  const Found r2 = need(find_of_camera(inputs, rectification_names, 2), "R2");
  c.left.rectification = rotation_of(*r1.file, r1.name);
  c.right.rectification = rotation_of(*r2.file, r2.name);
  if (vertical) exchange_axes(c);
  if (c.rig.size == Size{}) c.rig.size = c.size;
  const auto stated = pose_in(inputs);
  const Pose pose = !stated ? pose_of_rectification(c) : vertical ? axes_exchanged(*stated) : *stated;
  c.rotation = pose.rotation, c.translation = pose.translation;
  return c;
}

// Returns a sentence if R and T contradict R1, R2 and P2, which rectify the images.
std::vector<std::string> contradictions(const StereoCalibration& c) {
  const Pose implied = pose_of_rectification(c);
  const auto angle_to = [&](const Matrix3& rotation) {
    return length(axis_and_angle_of(product(rotation, transposed(implied.rotation)))) * 57.29577951308232;
  };
  const double angle = angle_to(c.rotation);
  Vector3 offset = c.translation;
  for (std::size_t i = 0; i < 3; ++i) offset[i] -= implied.translation[i];
  const auto rounded = [](double value) { return number_text(std::round(value * 1e4) / 1e4); };
  std::vector<std::string> differences;
  if (angle > largest_angle)
    differences.push_back(
        text("the rotations differ by ", rounded(angle), "°, and at most ", largest_angle, "° is expected",
             angle_to(transposed(c.rotation)) <= largest_angle ? " (R is transposed, as MATLAB stores it)" : ""));
  if (length(offset) > largest_offset * c.rig.baseline)
    differences.push_back(text("the translations differ by ", rounded(length(offset)), " at a baseline of ",
                               rounded(c.rig.baseline), " by P2, and at most ", 100 * largest_offset,
                               " % is expected"));
  if (differences.empty()) return {};
  return {text("R and T contradict R1, R2 and P2, which are used: ", join(differences, "; "),
               "; calibrate again, or take all matrices from one calibration in one unit")};
}

CalibrationFile read_unrectified(const Inputs& inputs) {
  RawPair pair;
  pair.left = lens(inputs, 1);
  pair.right = lens(inputs, 2);
  const auto pose = pose_in(inputs);
  if (!pose)
    refuse(
        "the file describes two cameras, but not the pose between them; add R and T, as stereoCalibrate returns them");
  pair.right_from_left = *pose;
  pair.unit = unit_in(inputs);
  pair.size = size_in(inputs);
  if (pair.size == Size{}) pair.size = size_of_images(inputs);
  return computed(pair);
}

bool has_matrices(const Inputs& inputs) {
  return find_of_camera(inputs, matrix_names, 1) && find_of_camera(inputs, matrix_names, 2);
}

}  // namespace

bool is_opencv(const Inputs& inputs) { return has_rectification(inputs) || has_matrices(inputs); }

CalibrationFile read_opencv(const Inputs& inputs) {
  for (bool (*const has)(const Inputs&) : {has_rectification, has_matrices}) {
    const auto holds = [&](const Document& file) { return has({{file}, inputs.options}); };
    if (inputs.is_pair() && std::all_of(inputs.files.begin(), inputs.files.end(), holds))
      throw Error(ErrorCategory::call, "both files hold the matrices of both cameras; leave one of them out");
  }
  if (!has_rectification(inputs)) return read_unrectified(inputs);
  const Rig rig = rig_in(inputs);
  const bool vertical = has_vertical_projections(inputs);
  CalibrationFile file = rectified(rig, [&] { return cameras_in(inputs, rig, vertical); });
  file.vertical = vertical;
  if (file.cameras) file.warnings = contradictions(*file.cameras);
  return file;
}

}  // namespace stereopsis::io
