// Readers of calibrations of rectified pairs: Middlebury, KITTI and Cityscapes.
#include <cmath>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"

namespace stereopsis::io {
namespace {

// A KITTI file, and the number of the left camera of a pair in it: 0 (grey) or 2 (colour).
class Kitti {
 public:
  Kitti(const Document& file, KittiPair pair) : file_(file) {
    if (file.rows() > 0 && file.rows() != 2 && file.rows() != 4)
      refuse(text("there are ", file.rows(),
                  " rows of numbers; a KITTI calibration must have 2 or 4 projections of 12 numbers"));
    const bool has_grey = has(0) && has(1), has_colour = has(2) && has(3);
    const bool colour = pair == KittiPair::colour || (pair == KittiPair::any && has_colour) ||
                        (pair == KittiPair::grey_first && has_colour && !has_grey);
    left_ = colour ? 2 : 0;
  }

  // Returns "P_rect_02" if the file has this name, else "P2" or "row 3".
  static std::string projection_name(const Document& file, int camera) {
    if (file.rows() > 0) return text("row ", camera + 1);
    const std::string raw = text("P_rect_0", camera);
    return file.has(raw) ? raw : text('P', camera);
  }

  Rig rig() const {
    const std::string left = projection_name(file_, left_), right = projection_name(file_, left_ + 1);
    const auto from = file_.numbers(left, 12), to = file_.numbers(right, 12);
    return rig_of_projections(left, from, right, to, "m", size("S_rect_0"));
  }

  StereoCalibration cameras(const Rig& rig, const CalibrationOptions& options) const {
    if (!file_.has(text("K_0", left_)))
      refuse("there is no K_00 or K_02, so the file describes only rectified images; leave --raw out");
    StereoCalibration c;
    c.rig = rig;
    c.size = size("S_0");
    if (c.size == Size{}) refuse(text("there is no S_0", left_, " in the file; the file is cut off"));
    if (c.rig.size == Size{}) c.rig.size = c.size;
    c.left = camera(left_, options);
    c.right = camera(left_ + 1, options);
    const Pose pose = pose_of_rectification(c);
    c.rotation = pose.rotation, c.translation = pose.translation;
    return c;
  }

 private:
  bool has(int camera) const { return file_.has(projection_name(file_, camera)); }

  Size size(const char* start) const {
    const std::string name = text(start, left_);
    if (!file_.has(name)) return {};
    const auto numbers = file_.numbers(name, 2);
    return size_of(numbers[0], numbers[1]);
  }

  CalibratedCamera camera(int number, const CalibrationOptions& options) const {
    const std::string matrix = text("K_0", number), distortion = text("D_0", number);
    const auto coefficients = file_.numbers_up_to(distortion, 14);
    const Lens::Model model = model_of({"KITTI's lens", "plumb_bob"}, coefficients, distortion, options);
    return {lens_of(numbers_of_matrix(file_, matrix), model, coefficients, distortion),
            rotation_of(file_, text("R_rect_0", number))};
  }

  const Document& file_;
  int left_;
};

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
// colour.
bool is_kitti(const Inputs& inputs) {
  if (inputs.first().rows() > 0) {
    const std::string row = inputs.first().word("row 1");
    return parse_number<double>(std::string_view(row).substr(0, row.find(' '))).has_value();
  }
  // Files of OpenCV also have P1 and P2, but neither P0 nor P3.
  return inputs.first().has(Kitti::projection_name(inputs.first(), 0)) ||
         inputs.first().has(Kitti::projection_name(inputs.first(), 3));
}

CalibrationFile read_kitti(const Inputs& inputs) {
  const Kitti kitti(inputs.first(), inputs.options.pair);
  const Rig rig = kitti.rig();
  return rectified(rig, [&] { return kitti.cameras(rig, inputs.options); });
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
