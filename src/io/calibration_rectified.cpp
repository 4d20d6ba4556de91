// Readers of calibrations of rectified pairs: Middlebury, KITTI with DrivingStereo, K.txt and Cityscapes.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"

namespace stereopsis::io {
namespace {

constexpr std::string_view projection_prefix = "P_rect_";

// A camera of a KITTI file: the name of its projection, and the label that ends its other names, such as K_02.
struct KittiCamera {
  std::string projection, label;
};

// Returns a camera of KITTI's own numbers, whose projection is P_rect_02, P2 or row 3.
KittiCamera numbered(const Document& file, int number) {
  const std::string label = text('0', number), raw = text(projection_prefix, label);
  if (file.rows() > 0) return {text("row ", number + 1), label};
  return {file.has(raw) ? raw : text('P', number), label};
}

bool has(const Document& file, int number) { return file.has(numbered(file, number).projection); }

// Returns all cameras with a projection P_rect_LABEL, from left to right. DrivingStereo's cameras are 101 and 103.
std::vector<KittiCamera> labelled(const Document& file) {
  std::vector<std::pair<double, KittiCamera>> found;  // with K·t along x, which falls from left to right
  for (const std::string& name : file.top_names())
    if (name.starts_with(projection_prefix))
      found.push_back({-file.numbers(name, 12)[3], {name, name.substr(projection_prefix.size())}});
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<KittiCamera> cameras;
  for (auto& [x, camera] : found) cameras.push_back(std::move(camera));
  return cameras;
}

// The pair of cameras of a KITTI file.
class Kitti {
 public:
  Kitti(const Document& file, KittiPair pair) : file_(file) {
    if (file.rows() > 0 && file.rows() != 2 && file.rows() != 4)
      refuse(text("there are ", file.rows(),
                  " rows of numbers; a KITTI calibration must have 2 or 4 projections of 12 numbers"));
    if (!has(file, 0) && !has(file, 3)) {
      choose_labelled();
      return;
    }
    const bool has_grey = has(file, 0) && has(file, 1), has_colour = has(file, 2) && has(file, 3);
    const bool colour = pair == KittiPair::colour || (pair == KittiPair::any && has_colour) ||
                        (pair == KittiPair::grey_first && has_colour && !has_grey);
    left_ = numbered(file, colour ? 2 : 0);
    right_ = numbered(file, colour ? 3 : 1);
  }

  Rig rig() const {
    const auto from = file_.numbers(left_.projection, 12), to = file_.numbers(right_.projection, 12);
    return rig_of_projections(left_.projection, from, right_.projection, to, "m", size("S_rect_"));
  }

  StereoCalibration cameras(const Rig& rig, const CalibrationOptions& options) const {
    if (!file_.has(text("K_", left_.label)))
      refuse(text("there is no K_", left_.label,
                  " in the file, so the file describes only rectified images; leave --raw out"));
    StereoCalibration c;
    c.rig = rig;
    c.size = size("S_");
    if (c.size == Size{}) refuse(text("there is no S_", left_.label, " in the file; the file is cut off"));
    if (c.rig.size == Size{}) c.rig.size = c.size;
    c.left = camera(left_.label, options);
    c.right = camera(right_.label, options);
    const Pose pose = pose_of_rectification(c);
    c.rotation = pose.rotation, c.translation = pose.translation;
    return c;
  }

 private:
  void choose_labelled() {
    const std::vector<KittiCamera> found = labelled(file_);
    if (found.size() != 2) {
      std::vector<std::string> names;
      for (const KittiCamera& camera : found) names.push_back(camera.projection);
      refuse(text("there are ", found.size(), " projections, ", join(names, ", "),
                  "; a file with other cameras than KITTI's 00 to 03 must have two"));
    }
    left_ = found[0];
    right_ = found[1];
  }

  Size size(const char* start) const {
    const std::string name = text(start, left_.label);
    if (!file_.has(name)) return {};
    const auto numbers = file_.numbers(name, 2);
    return size_of(numbers[0], numbers[1]);
  }

  CalibratedCamera camera(const std::string& label, const CalibrationOptions& options) const {
    const std::string matrix = text("K_", label), distortion = text("D_", label);
    const auto coefficients = file_.numbers_up_to(distortion, 14);
    const Lens::Model model = model_of({"KITTI's lens", "plumb_bob"}, coefficients, distortion, options);
    return {lens_of(numbers_of_matrix(file_, matrix), model, coefficients, distortion),
            rotation_of(file_, text("R_rect_", label))};
  }

  const Document& file_;
  KittiCamera left_, right_;
};

// Returns all numbers of a file of rows; nothing if a row holds anything else.
std::vector<double> numbers_in_rows(const Document& file) {
  constexpr std::size_t most = 12;
  std::vector<double> all;
  for (int row = 1; row <= file.rows(); ++row) try {
      const auto numbers = file.numbers_up_to(text("row ", row), most);
      all.insert(all.end(), numbers.begin(), numbers.end());
    } catch (const Error&) {
      return {};
    }
  return all;
}

}  // namespace

// Middlebury 2014 and 2021, and the two views of ETH3D: cam0 and cam1 = [f 0 cx; 0 f cy; 0 0 1], doffs = cx1 − cx0 in
// pixels, and the baseline in mm. Z = f · baseline / (d + doffs).
bool is_middlebury(const Inputs& inputs) { return inputs.first().has("cam0"); }

CalibrationFile read_middlebury(const Inputs& inputs) {
  const Document& file = inputs.first();
  const auto left = file.numbers("cam0", 9), right = file.numbers("cam1", 9);
  const double baseline = file.number("baseline");
  Rig rig = rig_of_projections("cam0", projection_of(left, 0), "cam1", projection_of(right, baseline), "mm",
                               size_under(file, "width", "height"));
  const double doffs = file.number_or("doffs", right[2] - left[2]);
  if (!(std::abs(doffs - (right[2] - left[2])) <= 0.1))
    refuse(text("doffs is ", number_text(doffs), ", but the principal points of cam1 and cam0 are ",
                number_text(right[2] - left[2]), " apart; they must agree"));
  rig.baseline = baseline;
  rig.cx_right = rig.cx_left + doffs;
  return rectified(rig, []() -> StereoCalibration {
    refuse(
        "a Middlebury calibration describes only rectified images; leave --raw out, or give the calibration of the raw "
        "cameras");
  });
}

// KITTI: P0 to P3 (calib.txt); P_rect_00 to P_rect_03 (calib_cam_to_cam.txt, with the sizes S_0N and S_rect_0N); or
// rows without names in this order. Lengths are in metres. The cameras 0 and 1 are grey, and the cameras 2 and 3 are
// colour. DrivingStereo's files have two cameras with other numbers.
bool is_kitti(const Inputs& inputs) {
  if (inputs.first().rows() > 0) {
    const std::string row = inputs.first().word("row 1");
    return parse_number<double>(std::string_view(row).substr(0, row.find(' '))).has_value();
  }
  // Files of OpenCV also have P1 and P2, but neither P0 nor P3.
  return has(inputs.first(), 0) || has(inputs.first(), 3) || !labelled(inputs.first()).empty();
}

CalibrationFile read_kitti(const Inputs& inputs) {
  const Kitti kitti(inputs.first(), inputs.options.pair);
  const Rig rig = kitti.rig();
  return rectified(rig, [&] { return kitti.cameras(rig, inputs.options); });
}

// K.txt of FoundationStereo and the like: nine numbers of the camera matrix of the rectified pair, in one row or three,
// and the baseline in metres. The nine numbers alone are recognised, and refused.
bool is_matrix_and_baseline(const Inputs& inputs) {
  const Document& file = inputs.first();
  if (file.rows() < 1 || file.rows() > 4 || inputs.is_pair()) return false;
  const auto numbers = numbers_in_rows(file);
  return (numbers.size() == 9 || numbers.size() == 10) && numbers[1] == 0 && numbers[3] == 0 && numbers[6] == 0 &&
         numbers[7] == 0 && numbers[8] == 1;
}

CalibrationFile read_matrix_and_baseline(const Inputs& inputs) {
  const auto k = numbers_in_rows(inputs.first());
  if (k.size() == 9)
    refuse(
        text("the file holds one camera matrix and no baseline; add a row with the baseline in metres, or give "
             "--focal ",
             number_text(k[0]), " and --baseline"));
  return rectified(rig_of_projections("K", projection_of(k, 0), "K", projection_of(k, k[9]), "m", {}),
                   []() -> StereoCalibration {
                     refuse(
                         "a camera matrix with a baseline describes only rectified images; leave --raw out, or give "
                         "the calibration of the raw cameras");
                   });
}

// Cityscapes' camera.json: fx, fy, u0, v0 of the rectified left camera in pixels, and the baseline in metres.
// Disparities lie along x, so that fx is used; fy differs from fx by 0.1 %.
bool is_cityscapes(const Inputs& inputs) {
  return inputs.first().has("intrinsic.u0") && inputs.first().has("extrinsic.baseline");
}

CalibrationFile read_cityscapes(const Inputs& inputs) {
  const Document& file = inputs.first();
  Rig rig;
  rig.focal = file.number("intrinsic.fx");
  rig.cx_left = rig.cx_right = file.number("intrinsic.u0");
  rig.cy = file.number("intrinsic.v0");
  rig.baseline = file.number("extrinsic.baseline");
  rig.unit = "m";
  return rectified(checked(rig), []() -> StereoCalibration {
    refuse("Cityscapes' camera.json describes only rectified images; leave --raw out");
  });
}

}  // namespace stereopsis::io
