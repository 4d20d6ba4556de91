// Readers of the calibrations of robots: Kalibr's camchain, EuRoC's sensor.yaml, camodocal's cameras with the
// configuration of VINS, and MRPT.
#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/tokens.hpp"

namespace stereopsis::io {
namespace {

// Reads `intrinsics: [fu, fv, cu, cv]` of a pinhole camera, and its distortion under one of the names that the format
// uses.
Lens pinhole(const Document& file, const std::string& prefix, const char* coefficients_name,
             const CalibrationOptions& options) {
  const NamedModel camera = model_in(file, {(prefix + "camera_model").c_str()});
  if (!camera.model.empty() && camera.model != "pinhole")
    refuse(text(camera.key, " is '", Tokens::printable(camera.model, 40),
                "', which is not supported; calibrate with the pinhole model and radtan or equidistant distortion"));
  const std::string d = prefix + coefficients_name, k = prefix + "intrinsics";
  const auto numbers = file.numbers(k, 4);
  const auto coefficients = file.has(d) ? file.numbers_up_to(d, 14) : std::vector<double>();
  const auto model = model_of(model_in(file, {(prefix + "distortion_model").c_str()}), coefficients, d, options);
  return lens_of({numbers[0], numbers[1], numbers[2], numbers[3]}, model, coefficients, k);
}

Size resolution(const Document& file, const std::string& name) {
  const auto numbers = file.numbers(name, 2);
  return size_of(numbers[0], numbers[1]);
}

void require_same(Size left, Size right) {
  if (left != right)
    refuse(text("the images of the cameras are ", left.width, "×", left.height, " and ", right.width, "×", right.height,
                "; both must have the same size"));
}

// Returns the motion from cam0 to another camera. Kalibr stores the motion from the previous camera, or the motions of
// all cameras relative to the IMU.
Pose kalibr_pose(const Document& file, int camera) {
  if (camera == 0) return {};
  const std::string name = text("cam", camera, '.');
  if (file.has(name + "T_cn_cnm1")) return after(pose_of(file, name + "T_cn_cnm1"), kalibr_pose(file, camera - 1));
  if (file.has(name + "T_cam_imu"))
    return after(pose_of(file, name + "T_cam_imu"), pose_of(file, "cam0.T_cam_imu").inverse());
  if (file.has(name + "T_imu_cam"))
    return after(pose_of(file, name + "T_imu_cam").inverse(), pose_of(file, "cam0.T_imu_cam"));
  refuse(text("there is no ", name, "T_cn_cnm1 in the file, the pose of the camera; calibrate all cameras together"));
}

// The models of camodocal: KANNALA_BRANDT is equidistant with k2 to k5, and PINHOLE is radtan.
Lens camodocal_lens(const Document& file, const CalibrationOptions& options) {
  NamedModel named = model_in(file, {"model_type"});
  if (named.model == "PINHOLE") named.model = "radtan";
  const auto parameters = [&](const char* group, std::initializer_list<const char*> names) {
    std::vector<double> numbers;
    for (const char* name : names) numbers.push_back(file.number(text(group, '.', name)));
    return numbers;
  };
  const Lens::Model model = model_of(named, {}, "the lens", options);
  const bool fisheye = model == Lens::Model::fisheye;
  const auto k = fisheye ? parameters("projection_parameters", {"mu", "mv", "u0", "v0"})
                         : parameters("projection_parameters", {"fx", "fy", "cx", "cy"});
  const auto d = fisheye ? parameters("projection_parameters", {"k2", "k3", "k4", "k5"})
                         : parameters("distortion_parameters", {"k1", "k2", "p1", "p2"});
  return lens_of({k[0], k[1], k[2], k[3]}, model, d, "projection_parameters");
}

// The cameras of MRPT: fx, fy, cx, cy and dist (k1, k2, p1, p2, k3).
Lens mrpt_lens(const Document& file, const std::string& camera, const CalibrationOptions& options) {
  const auto number = [&](const char* name) { return file.number(text(camera, '.', name)); };
  const std::string d = text(camera, ".dist");
  const auto coefficients = file.has(d) ? file.numbers_up_to(d, 14) : std::vector<double>();
  return lens_of({number("fx"), number("fy"), number("cx"), number("cy")},
                 model_of({d, "radtan"}, coefficients, d, options), coefficients, camera);
}

}  // namespace

// MRPT's stereo cameras. The pose, x y z and the quaternion w x y z, is that of the right camera relative to the left
// one, in metres.
bool is_mrpt(const Inputs& inputs) {
  return inputs.first().has("camera_left.fx") && inputs.first().has("camera_left2right_pose.pose_quaternion");
}

CalibrationFile read_mrpt(const Inputs& inputs) {
  const Document& file = inputs.first();
  RawPair pair;
  pair.left = mrpt_lens(file, "camera_left", inputs.options);
  pair.right = mrpt_lens(file, "camera_right", inputs.options);
  pair.size = resolution(file, "camera_left.resolution");
  require_same(pair.size, resolution(file, "camera_right.resolution"));
  const auto p = file.numbers("camera_left2right_pose.pose_quaternion", 7);
  if (p[3] == 0 && p[4] == 0 && p[5] == 0 && p[6] == 0)
    refuse("the quaternion of pose_quaternion is 0, which is not a rotation; correct the file");
  pair.right_from_left = Pose{rotation_of_quaternion(p[3], p[4], p[5], p[6]), {p[0], p[1], p[2]}}.inverse();
  pair.unit = "m";
  return computed(pair);
}

bool is_kalibr(const Inputs& inputs) { return inputs.first().has("cam0.intrinsics"); }

CalibrationFile read_kalibr(const Inputs& inputs) {
  const Document& file = inputs.first();
  if (!file.has_below("cam1"))
    refuse("the camchain has only cam0; give the camchain of two cameras that were calibrated together");
  RawPair pair;
  pair.left = pinhole(file, "cam0.", "distortion_coeffs", inputs.options);
  pair.right = pinhole(file, "cam1.", "distortion_coeffs", inputs.options);
  pair.size = resolution(file, "cam0.resolution");
  require_same(pair.size, resolution(file, "cam1.resolution"));
  pair.right_from_left = kalibr_pose(file, 1);
  pair.unit = "m";
  return computed_left_first(pair);
}

PosedCamera kalibr_third(const Document& file) {
  if (!file.has_below("cam2"))
    refuse("the camchain has no cam2; give the camchain of three cameras that were calibrated together");
  const Pose second = kalibr_pose(file, 1), left = is_left_of_first(second) ? second : Pose();
  const Pose pose = after(kalibr_pose(file, 2), left.inverse());
  return {pinhole(file, "cam2.", "distortion_coeffs", {}), resolution(file, "cam2.resolution"), pose.rotation,
          pose.translation};
}

// T_BS is the motion from the sensor to the body.
bool is_euroc_camera(const Document& file) { return file.has("T_BS.data") && file.has("intrinsics"); }

bool is_euroc(const Inputs& inputs) { return is_euroc_camera(inputs.first()); }

PosedCamera euroc_third(const Document& file, const Document& left) {
  const Pose pose = after(pose_of(file, "T_BS.data").inverse(), pose_of(left, "T_BS.data"));
  return {pinhole(file, "", "distortion_coefficients", {}), resolution(file, "resolution"), pose.rotation,
          pose.translation};
}

CalibrationFile read_euroc(const Inputs& inputs) {
  require_pair(inputs, "this sensor.yaml");
  struct Sensor {
    Lens lens;
    Size size;
    Pose body_from_sensor;
  };
  const auto sensor = [&](std::size_t i) {
    return of_file(inputs, i, [&](const Document& file) {
      return Sensor{pinhole(file, "", "distortion_coefficients", inputs.options), resolution(file, "resolution"),
                    pose_of(file, "T_BS.data")};
    });
  };
  const Sensor left = sensor(0), right = sensor(1);
  require_same(left.size, right.size);
  return computed(
      {left.size, left.lens, right.lens, after(right.body_from_sensor.inverse(), left.body_from_sensor), "m"});
}

bool is_camodocal(const Inputs& inputs) {
  return inputs.with("model_type") != nullptr || inputs.first().has("body_T_cam0.data");
}

// The cameras are the files with a model_type, the left one first. The pose is body_T_cam0 and body_T_cam1 of VINS, or
// `transform` of camodocal, whose direction follows from its sign.
CalibrationFile read_camodocal(const Inputs& inputs) {
  std::vector<std::size_t> cameras;
  for (std::size_t i = 0; i < inputs.files.size(); ++i)
    if (inputs.files[i].has("model_type")) cameras.push_back(i);
  if (cameras.size() != 2)
    refuse(text("there are ", cameras.size(),
                " files with a model_type; a calibration of camodocal must have two, which VINS's configuration names "
                "with cam0_calib and cam1_calib"));
  const auto lens = [&](std::size_t i) {
    return of_file(inputs, i, [&](const Document& file) { return camodocal_lens(file, inputs.options); });
  };
  const auto size = [&](std::size_t i) { return size_under(inputs.files[i], "image_width", "image_height"); };
  RawPair pair;
  pair.left = lens(cameras[0]);
  pair.right = lens(cameras[1]);
  pair.size = size(cameras[0]);
  require_same(pair.size, size(cameras[1]));
  if (pair.size == Size{}) pair.size = size_of_images(inputs);
  if (const Document* file = inputs.with("body_T_cam1.data")) {
    pair.right_from_left = after(pose_of(*file, "body_T_cam1.data").inverse(), pose_of(*file, "body_T_cam0.data"));
    pair.unit = "m";
    return computed_left_first(pair);
  }
  const Document* file = inputs.with("transform.q_w");
  if (file == nullptr)
    refuse(
        "there is no pose of the cameras; give VINS's configuration (body_T_cam0, body_T_cam1), or a folder with "
        "camera_left.yaml, camera_right.yaml and extrinsics.yaml");
  const auto number = [&](const char* name) { return file->number(text("transform.", name)); };
  pair.right_from_left = {rotation_of_quaternion(number("q_w"), number("q_x"), number("q_y"), number("q_z")),
                          {number("t_x"), number("t_y"), number("t_z")}};
  if (pair.right_from_left.translation[0] > 0) pair.right_from_left = pair.right_from_left.inverse();
  return computed(pair);
}

}  // namespace stereopsis::io
