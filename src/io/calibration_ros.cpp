// Reads ROS camera_info, with one file per camera. Files have the form that the calibration tools write, or that
// `rostopic echo` (K, D, R, P) and `ros2 topic echo` (k, d, r, p) print. Lengths are in metres, and P(0, 3) of the
// right camera is −f · baseline.
#include <algorithm>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"

namespace stereopsis::io {
namespace {

// An array of the message, and its names in files.
struct Field {
  const char *in_file, *in_ros1, *in_ros2;

  std::string name(const Document& file) const {
    for (const char* name : {in_ros1, in_ros2})
      if (file.has(name)) return name;
    return in_file;
  }
};

constexpr Field matrix = {"camera_matrix.data", "K", "k"};
constexpr Field distortion = {"distortion_coefficients.data", "D", "d"};
constexpr Field rotation = {"rectification_matrix.data", "R", "r"};
constexpr Field projection = {"projection_matrix.data", "P", "p"};

bool describes_camera(const Document& file) {
  return file.has(projection.in_file) ||
         (file.has("distortion_model") && file.has(projection.name(file)) && file.has(matrix.name(file)));
}

// A camera_info message. The image may be a part of the sensor (roi), or have joined pixels (binning), but the matrices
// describe the whole sensor.
class CameraInfo {
 public:
  CameraInfo(const Document& file, const CalibrationOptions& options) : file_(file), options_(options) {
    for (const std::size_t axis : {0U, 1U}) {
      const char* const names[] = {"x", "y"};
      bin_[axis] = std::max(1.0, file.number_or(text("binning_", names[axis]), 1));
      corner_[axis] = file.number_or(text("roi.", names[axis], "_offset"), 0);
    }
  }

  Size size() const {
    const bool in_file = file_.has("image_width");
    Size size = size_under(file_, in_file ? "image_width" : "width", in_file ? "image_height" : "height");
    if (file_.number_or("roi.width", 0) > 0) size = size_under(file_, "roi.width", "roi.height");
    return {static_cast<int>(size.width / bin_[0]), static_cast<int>(size.height / bin_[1])};
  }

  std::vector<double> projection_matrix() const { return reduced(file_.numbers(projection.name(file_), 12), 4); }

  CalibratedCamera camera() const {
    const std::string k = matrix.name(file_), d = distortion.name(file_), r = rotation.name(file_);
    numbers_of_matrix(file_, k);
    const auto coefficients = file_.numbers_up_to(d, 14);
    const auto model = model_of(model_in(file_, {"distortion_model", "camera_model"}), coefficients, d, options_);
    const auto numbers = reduced(file_.numbers(k, 9), 3);
    return {lens_of({numbers[0], numbers[4], numbers[2], numbers[5]}, model, coefficients, k), rotation_of(file_, r)};
  }

 private:
  std::vector<double> reduced(std::vector<double> m, std::size_t columns) const {
    for (const std::size_t row : {0U, 1U}) {
      m[row * columns + 2] -= corner_[row];
      for (std::size_t i = 0; i < columns; ++i) m[row * columns + i] /= bin_[row];
    }
    return m;
  }

  const Document& file_;
  const CalibrationOptions& options_;
  double bin_[2], corner_[2];
};

}  // namespace

bool is_camera_info(const Inputs& inputs) { return describes_camera(inputs.first()); }

CalibrationFile read_camera_info(const Inputs& inputs) {
  require_pair(inputs, "this camera_info");
  const auto read = [&](auto part) {
    const auto of = [&](std::size_t i) {
      return of_file(inputs, i, [&](const Document& file) { return part(CameraInfo(file, inputs.options)); });
    };
    auto left = of(0);
    return std::pair(left, of(1));
  };
  const auto [left_size, right_size] = read([](const CameraInfo& info) { return info.size(); });
  auto [left, right] = read([](const CameraInfo& info) { return info.projection_matrix(); });
  if (left_size != right_size)
    refuse(text("the images of the left camera are ", left_size.width, "×", left_size.height,
                " and those of the right camera ", right_size.width, "×", right_size.height,
                "; both must have the same size"));
  const bool vertical = is_vertical(left, right);
  Size size = left_size;
  exchange_if_vertical(left, right, size, inputs.options.vertical);
  const Rig rig =
      rig_of_projections("the left projection matrix", left, "the right projection matrix", right, "m", size);
  CalibrationFile file = rectified(rig, [&, raw_size = left_size] {
    StereoCalibration c;
    c.rig = rig;
    c.size = raw_size;
    std::tie(c.left, c.right) = read([](const CameraInfo& info) { return info.camera(); });
    if (vertical) exchange_axes(c);
    const Pose pose = pose_of_rectification(c);
    c.rotation = pose.rotation, c.translation = pose.translation;
    return c;
  });
  file.vertical = vertical;
  return file;
}

}  // namespace stereopsis::io
