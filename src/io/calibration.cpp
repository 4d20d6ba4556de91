// Calibration readers for every supported format. Each reader converts its file to one form: two projections K·(I | t)
// with corresponding rows and the second camera to the right of the first. The focal length is the same in both
// directions and in both cameras.
#include "stereopsis/calibration.hpp"

#include <array>
#include <cmath>

#include "core/text.hpp"
#include "io/calibration_rig.hpp"
#include "io/file.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace io {
namespace {

constexpr std::uintmax_t largest_calibration = std::uintmax_t{1} << 22;
constexpr double largest_side = 1 << 20;

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

bool close_to(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

double within(const char* what, double value, double low, double high) {
  if (!(value >= low && value <= high))
    refuse(text("the ", what, " is ", number_text(value), "; it must be from ", number_text(low), " to ",
                number_text(high)));
  return value;
}

}  // namespace

Size size_of(double width, double height) {
  for (const double side : {width, height})
    if (!(side >= 1 && side <= largest_side) || side != std::floor(side))
      refuse(text("the image size is ", number_text(width), "×", number_text(height),
                  "; both must be integers from 1 to ", number_text(largest_side)));
  constexpr double most_pixels = 1 << 28;  // the same limit as for images
  if (width * height > most_pixels)
    refuse(text("the image size is ", number_text(width), "×", number_text(height), "; at most ",
                number_text(most_pixels), " pixels are supported"));
  return {static_cast<int>(width), static_cast<int>(height)};
}

namespace {

// Returns the size stored under two names, or 0×0 if the file has neither.
Size size_under(const Document& file, const char* width, const char* height) {
  if (!file.has(width) && !file.has(height)) return {};
  return size_of(file.number(width), file.number(height));
}

// Checks a rig that was read from any format, and returns it.
Rig checked(Rig rig) {
  within("focal length", rig.focal, 1e-3, 1e7);
  for (const double c : {rig.cx_left, rig.cx_right, rig.cy}) within("principal point", c, -1e7, 1e7);
  if (rig.baseline < 0)
    refuse(text("the baseline is ", number_text(rig.baseline),
                ", because the second camera is to the left of the first; swap the cameras"));
  within("baseline", rig.baseline, 1e-9, 1e9);
  return rig;
}

// Returns t of K·(I | t): K⁻¹ times the last column, which gives the camera's position.
std::array<double, 3> translation(const std::vector<double>& p) {
  return {(p[3] - p[2] * p[11]) / p[0], (p[7] - p[6] * p[11]) / p[5], p[11]};
}

void check_projection(const char* name, const std::vector<double>& p) {
  within("focal length", p[0], 1e-3, 1e7);
  if (!close_to(p[0], p[5], 1e-3 * p[0]))
    refuse(text(name, " has the focal lengths ", number_text(p[0]), " and ", number_text(p[5]),
                "; a rectified camera must have the same in both directions"));
  for (const auto& [index, value] : {std::pair{1, 0.0}, {4, 0.0}, {8, 0.0}, {9, 0.0}, {10, 1.0}})
    if (!close_to(p[static_cast<std::size_t>(index)], value, 1e-6))
      refuse(text(name, " is not the projection of a rectified camera: element (", index / 4, ", ", index % 4, ") is ",
                  number_text(p[static_cast<std::size_t>(index)]), " and must be ", value));
}

Rig rig_of_projections(const char* left_name, const std::vector<double>& left, const char* right_name,
                       const std::vector<double>& right, const char* unit, Size size) {
  check_projection(left_name, left);
  check_projection(right_name, right);
  if (!close_to(left[0], right[0], 1e-3 * left[0]) || !close_to(left[6], right[6], 0.5))
    refuse(text(left_name, " and ", right_name, " differ in focal length (", number_text(left[0]), " and ",
                number_text(right[0]), ") or in the row of the principal point (", number_text(left[6]), " and ",
                number_text(right[6]), "); both must be equal in a rectified pair"));
  const auto from = translation(left), to = translation(right);
  const double baseline = from[0] - to[0];
  for (const int axis : {1, 2}) {
    const double offset = std::abs(from[static_cast<std::size_t>(axis)] - to[static_cast<std::size_t>(axis)]);
    if (offset > 0.02 * std::abs(baseline))
      refuse(text("the cameras are ", number_text(std::abs(baseline)), " apart along the rows, but ",
                  number_text(offset), (axis == 1 ? " across them" : " in depth"),
                  "; only rectified cameras side by side are supported"));
  }
  if (baseline == 0)
    refuse(text(left_name, " and ", right_name, " have the baseline 0; give the calibration of two different cameras"));
  return checked({left[0], left[2], right[2], left[6], baseline, unit, size});
}

// Middlebury 2014 and 2021, ETH3D: cam0 and cam1 = [f 0 cx; 0 f cy; 0 0 1], doffs = cx1 − cx0 in pixels, the baseline
// in mm; Z = f · baseline / (d + doffs).
std::vector<double> projection_of(const std::vector<double>& k, double x) {
  return {k[0], k[1], k[2], -k[0] * x, k[3], k[4], k[5], 0, k[6], k[7], k[8], 0};
}

Rig middlebury(const Document& file) {
  const auto left = file.numbers("cam0", 9), right = file.numbers("cam1", 9);
  const double baseline = file.number("baseline");
  Rig rig = rig_of_projections("cam0", projection_of(left, 0), "cam1", projection_of(right, baseline), "mm",
                               size_under(file, "width", "height"));
  const double doffs = file.has("doffs") ? file.number("doffs") : right[2] - left[2];
  if (!close_to(doffs, right[2] - left[2], 0.1))
    refuse(text("doffs is ", number_text(doffs), ", but the principal points of cam1 and cam0 are ",
                number_text(right[2] - left[2]), " apart; they must agree"));
  rig.baseline = baseline;
  rig.cx_right = rig.cx_left + doffs;
  return rig;
}

}  // namespace

// KITTI: P0 to P3 (calib.txt), P_rect_00 to P_rect_03 (calib_cam_to_cam.txt, with the size S_rect_0N), or rows without
// names in that order. Metres; the cameras 0 and 1 are grey, 2 and 3 colour.
std::string kitti_name(const Document& file, int camera) {
  if (file.rows() > 0) return text("row ", camera + 1);
  const std::string raw = text("P_rect_0", camera);
  return file.has(raw) ? raw : text('P', camera);
}

bool is_kitti(const Document& file) {
  for (const int camera : {0, 1, 2, 3})
    if (file.has(kitti_name(file, camera))) return true;
  return false;
}

int kitti_camera(const Document& file, KittiPair pair) {
  const auto has = [&](int camera) { return file.has(kitti_name(file, camera)); };
  const bool has_grey = has(0) && has(1), has_colour = has(2) && has(3);
  const bool colour = pair == KittiPair::colour || (pair == KittiPair::any && has_colour) ||
                      (pair == KittiPair::grey_first && has_colour && !has_grey);
  return colour ? 2 : 0;
}

Size opencv_size(const Document& file) {
  for (const char* name : {"image_size", "imageSize", "img_size"})
    if (file.has(name)) {
      const auto numbers = file.numbers(name, 2);
      return size_of(numbers[0], numbers[1]);
    }
  return size_under(file, "image_width", "image_height");
}

std::string opencv_unit(const Document& file) {
  const std::string unit = file.word("unit");
  if (!unit.empty() && unit != "mm" && unit != "m")
    refuse(text("the unit is '", Tokens::printable(unit), "'; it must be mm or m, or be left out"));
  return unit;
}

namespace {

Rig kitti(const Document& file, KittiPair pair) {
  if (file.rows() > 0 && file.rows() != 2 && file.rows() != 4)
    refuse(text("there are ", file.rows(),
                " rows of numbers; a KITTI calibration must have 2 or 4 projections of 12 numbers"));
  const int camera = kitti_camera(file, pair);
  const std::string left = kitti_name(file, camera), right = kitti_name(file, camera + 1);
  const std::string size_name = text("S_rect_0", camera);
  Size size;
  if (file.has(size_name)) {
    const auto numbers = file.numbers(size_name, 2);
    size = size_of(numbers[0], numbers[1]);
  }
  const auto left_projection = file.numbers(left, 12), right_projection = file.numbers(right, 12);
  return rig_of_projections(left.c_str(), left_projection, right.c_str(), right_projection, "m", size);
}

// OpenCV's stereoRectify: P1 and P2 of the left and the right camera, P2(0, 3) = −f · baseline; or Q, with Z = Q(2, 3)
// / (Q(3, 2) · d + Q(3, 3)). The unit is that of the calibration board, which `calibrate` writes to the file and OpenCV
// does not.
Size rectified_size(const Document& file) {
  if (!file.has("rectified_size")) return opencv_size(file);
  const auto numbers = file.numbers("rectified_size", 2);
  return size_of(numbers[0], numbers[1]);
}

Rig opencv(const Document& file) {
  if (file.has("P1.data") && (file.has("P2.data") || !file.has("Q.data")))
    return rig_of_projections("P1", file.numbers("P1.data", 12), "P2", file.numbers("P2.data", 12),
                              opencv_unit(file).c_str(), rectified_size(file));
  const auto numbers = file.numbers("Q.data", 16);
  std::array<double, 16> q{};
  std::copy(numbers.begin(), numbers.end(), q.begin());
  Rig rig = rig_of_reprojection(q);
  rig.unit = opencv_unit(file);
  rig.size = rectified_size(file);
  return checked(rig);
}

}  // namespace

bool is_camera_info(const Document& file) { return file.has("projection_matrix.data"); }

Camera camera_of(const Document& file) {
  return {file.numbers("projection_matrix.data", 12), size_under(file, "image_width", "image_height")};
}

// ROS camera_info: metres, the right camera's P(0, 3) = −f · baseline, the left camera's is 0.
Rig rig_of(const Camera& left, const Camera& right) {
  if (left.size != right.size)
    refuse(text("the images of the left camera are ", left.size.width, "×", left.size.height,
                " and those of the right camera ", right.size.width, "×", right.size.height,
                "; both must have the same size"));
  return rig_of_projections("the left projection_matrix", left.projection, "the right projection_matrix",
                            right.projection, "m", left.size);
}

Rig rig_of(const Document& file, KittiPair pair) {
  if (is_camera_info(file))
    throw Error(ErrorCategory::call,
                "this camera_info describes only one camera; give the file of the right camera, too");
  if (file.has("cam0")) return middlebury(file);
  if (file.has("P1.data") || file.has("Q.data")) return opencv(file);
  if (is_kitti(file)) return kitti(file, pair);
  refuse(
      "the file has no stereo calibration; it must have cam0 and cam1 (Middlebury), P0 to P3 or P_rect_00 to P_rect_03 "
      "(KITTI), P1 and P2 or Q (OpenCV), or a projection_matrix in each of two files (ROS)");
}

}  // namespace io

Rig read_rig(const std::filesystem::path& file, const std::optional<std::filesystem::path>& right, KittiPair pair) {
  using namespace io;
  const std::string contents = read_file(file, largest_calibration);
  const Document document = naming(file, [&] { return Document::parse(contents); });
  if (!right) return naming(file, [&] { return rig_of(document, pair); });
  if (!is_camera_info(document))
    throw Error(
        ErrorCategory::call,
        text(file.string(),
             " is not a ROS camera_info file with a projection_matrix, and only such files come in pairs; leave ",
             right->string(), " out"));
  const Camera left_camera = naming(file, [&] { return camera_of(document); });
  const std::string right_contents = read_file(*right, largest_calibration);
  const Camera right_camera = naming(*right, [&] { return camera_of(Document::parse(right_contents)); });
  return naming(*right, [&] { return rig_of(left_camera, right_camera); });
}

StereoCalibration read_calibration(const std::filesystem::path& file,
                                   const std::optional<std::filesystem::path>& second, KittiPair pair, Size size) {
  using namespace io;
  const std::string contents = read_file(file, largest_calibration);
  const Document document = naming(file, [&] { return Document::parse(contents); });
  if (!second) return naming(file, [&] { return calibration_of(document, pair, size); });
  const std::string second_contents = read_file(*second, largest_calibration);
  return naming(*second, [&] { return calibration_of(document, Document::parse(second_contents), size); });
}

}  // namespace stereopsis
