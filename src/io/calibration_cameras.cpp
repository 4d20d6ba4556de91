// Reads the unrectified cameras of a pair from calibration files that contain them.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "io/calibration_rig.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

Matrix3 matrix_of(const Document& file, const std::string& name) {
  const auto numbers = file.numbers(name, 9);
  Matrix3 m{};
  std::copy(numbers.begin(), numbers.end(), m.begin());
  return m;
}

Matrix3 rotation_of(const Document& file, const std::string& name) {
  const Matrix3 r = matrix_of(file, name);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const double product = r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
      if (!(std::abs(product - (i == j)) <= 1e-3))
        refuse(text(name, " is not a rotation; its rows must be orthonormal"));
    }
  return r;
}

// Return Rᵀ·v and Rᵀ·S.
Vector3 turned_back(const Matrix3& r, const Vector3& v) {
  Vector3 out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = r[i] * v[0] + r[3 + i] * v[1] + r[6 + i] * v[2];
  return out;
}
Matrix3 turned_back(const Matrix3& r, const Matrix3& s) {
  Matrix3 out{};
  for (std::size_t column = 0; column < 3; ++column) {
    const Vector3 v = turned_back(r, Vector3{s[column], s[3 + column], s[6 + column]});
    for (std::size_t row = 0; row < 3; ++row) out[3 * row + column] = v[row];
  }
  return out;
}

Lens lens_of(const Document& file, const std::string& matrix, const std::string& distortion, const std::string& model) {
  const Matrix3 k = matrix_of(file, matrix);
  Lens lens;
  lens.fx = k[0], lens.fy = k[4], lens.cx = k[2], lens.cy = k[5];
  if (!(lens.fx > 0) || !(lens.fy > 0))
    refuse(text(matrix, " has the focal lengths ", number_text(k[0]), " and ", number_text(k[4]),
                "; both must be positive"));
  if (k[1] != 0)
    refuse(text(matrix, " has the skew ", number_text(k[1]), ", which is not supported; calibrate without skew"));
  lens.model = model == "fisheye" || model == "equidistant" ? Lens::Model::fisheye : Lens::Model::polynomial;
  if (lens.model == Lens::Model::polynomial && !model.empty() && model != "plumb_bob" && model != "rational_polynomial")
    refuse(text("the distortion model '", model.substr(0, 40),
                "' is not known; it must be plumb_bob, rational_polynomial, equidistant or fisheye"));
  const auto numbers = file.numbers_up_to(distortion, lens.model == Lens::Model::fisheye ? 4 : 14);
  for (std::size_t i = 12; i < numbers.size(); ++i)
    if (numbers[i] != 0)
      refuse(text(distortion, " tilts the sensor (coefficient ", i + 1, " is ", number_text(numbers[i]),
                  "), which is not supported; calibrate without the tilted model"));
  std::copy_n(numbers.begin(), std::min<std::size_t>(12, numbers.size()), lens.distortion.begin());
  return lens;
}

// Derives R and T from the rectification if the file lacks them: X_right = R2ᵀ·(R1·X_left − (B, 0, 0)).
void derive_extrinsics(StereoCalibration& c) {
  c.rotation = turned_back(c.right.rectification, c.left.rectification);
  c.translation = turned_back(c.right.rectification, Vector3{-c.rig.baseline, 0, 0});
}

// Returns which of OpenCV's names the file uses: M1, K1 or cameraMatrix1; D1 or distCoeffs1.
std::string name_in(const Document& file, std::initializer_list<const char*> names, int camera) {
  for (const char* name : names)
    if (file.has(text(name, camera, ".data"))) return text(name, camera, ".data");
  return text(*names.begin(), camera, ".data");
}

CalibratedCamera opencv_camera(const Document& intrinsics, const Document& extrinsics, int camera) {
  const std::string matrix = name_in(intrinsics, {"M", "K", "cameraMatrix"}, camera);
  if (!intrinsics.has(matrix))
    refuse(text(
        "there is no ", matrix,
        ", so the file describes only rectified images; leave --raw out, or give the calibration of the raw cameras"));
  return {lens_of(intrinsics, matrix, name_in(intrinsics, {"D", "distCoeffs"}, camera),
                  intrinsics.word("distortion_model")),
          rotation_of(extrinsics, text("R", camera, ".data"))};
}

StereoCalibration opencv(const Document& extrinsics, const Document& intrinsics, Size size) {
  StereoCalibration c;
  c.rig = rig_of(extrinsics, KittiPair::any);
  for (const Document* file : {&extrinsics, &intrinsics})
    if (c.size == Size{}) c.size = opencv_size(*file);
  if (c.size == Size{}) c.size = size;
  if (c.size == Size{}) refuse("the file has no image size; add image_width and image_height");
  if (c.rig.size == Size{}) c.rig.size = c.size;
  c.left = opencv_camera(intrinsics, extrinsics, 1);
  c.right = opencv_camera(intrinsics, extrinsics, 2);
  if (!extrinsics.has("R.data") || !extrinsics.has("T.data")) {
    derive_extrinsics(c);
    return c;
  }
  c.rotation = rotation_of(extrinsics, "R.data");
  const auto t = extrinsics.numbers("T.data", 3);
  c.translation = {t[0], t[1], t[2]};
  return c;
}

CalibratedCamera ros_camera(const Document& file) {
  return {lens_of(file, "camera_matrix.data", "distortion_coefficients.data", file.word("distortion_model")),
          rotation_of(file, "rectification_matrix.data")};
}

StereoCalibration ros(const Document& left, const Document& right) {
  StereoCalibration c;
  c.rig = rig_of(camera_of(left), camera_of(right));
  c.size = c.rig.size;
  c.left = ros_camera(left);
  c.right = ros_camera(right);
  derive_extrinsics(c);
  return c;
}

StereoCalibration kitti(const Document& file, KittiPair pair) {
  const int camera = kitti_camera(file, pair);
  if (!file.has(text("K_0", camera)))
    refuse("there is no K_00 or K_02, so the file describes only rectified images; leave --raw out");
  StereoCalibration c;
  c.rig = rig_of(file, pair);
  const auto size = file.numbers(text("S_0", camera), 2);
  c.size = size_of(size[0], size[1]);
  if (c.rig.size == Size{}) c.rig.size = c.size;
  for (const int side : {0, 1}) {
    const int n = camera + side;
    CalibratedCamera& one = side == 0 ? c.left : c.right;
    one = {lens_of(file, text("K_0", n), text("D_0", n), ""), rotation_of(file, text("R_rect_0", n))};
  }
  derive_extrinsics(c);
  return c;
}

}  // namespace

StereoCalibration calibration_of(const Document& file, KittiPair pair, Size size) {
  if (is_camera_info(file))
    throw Error(ErrorCategory::call,
                "this camera_info describes only one camera; give the file of the right camera, too");
  if (file.has("cam0"))
    refuse(
        "a Middlebury calibration describes only rectified images; leave --raw out, or give the calibration of the raw "
        "cameras");
  if (!file.has("P1.data") && !file.has("Q.data") && is_kitti(file)) return kitti(file, pair);
  return opencv(file, file, size);
}

StereoCalibration calibration_of(const Document& first, const Document& second, Size size) {
  if (is_camera_info(first) && is_camera_info(second)) return ros(first, second);
  if (first.has("P1.data")) return opencv(first, second, size);
  if (second.has("P1.data")) return opencv(second, first, size);
  throw Error(ErrorCategory::call,
              "these two files are not a calibration; give the left and the right camera_info of ROS, or OpenCV's "
              "extrinsics (R1, R2, P1, P2) and intrinsics (M1, D1, M2, D2)");
}

}  // namespace stereopsis::io
