// Writes calibration files that OpenCV and ROS read.
#include <cmath>
#include <span>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/file.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis {
namespace {

using Numbers = std::span<const double>;

std::string list_of(Numbers numbers, const char* separator) {
  std::string list;
  for (const double number : numbers) {
    if (!std::isfinite(number))
      throw Error(ErrorCategory::call, text("a calibration with the number ", number_text(number),
                                            " cannot be written; all its numbers must be finite"));
    list += (list.empty() ? "" : separator) + number_text(number);
  }
  return list;
}

// OpenCV's FileStorage format, as YAML or XML.
class Storage {
 public:
  explicit Storage(const std::filesystem::path& file) : xml_(io::lower_extension(file) == ".xml") {
    const std::string extension = io::lower_extension(file);
    if (!xml_ && extension != ".yml" && extension != ".yaml")
      throw Error(ErrorCategory::call,
                  text("a calibration is written as .yml, .yaml or .xml, not as '", extension, "'"));
    contents_ = xml_ ? "<?xml version=\"1.0\"?>\n<opencv_storage>\n" : "%YAML:1.0\n---\n";
  }

  void value(const char* name, const std::string& value_) {
    contents_ += xml_ ? text('<', name, '>', value_, "</", name, ">\n") : text(name, ": ", value_, '\n');
  }
  void word(const char* name, const std::string& value_) { value(name, text('"', value_, '"')); }
  void matrix(const char* name, int rows, int columns, Numbers data) {
    contents_ += xml_ ? text('<', name, " type_id=\"opencv-matrix\"><rows>", rows, "</rows><cols>", columns,
                             "</cols><dt>d</dt>\n<data>", list_of(data, " "), "</data></", name, ">\n")
                      : text(name, ": !!opencv-matrix\n   rows: ", rows, "\n   cols: ", columns,
                             "\n   dt: d\n   data: [ ", list_of(data, ", "), " ]\n");
  }
  void size(const char* name, Size s) {
    value(name, xml_ ? text(s.width, ' ', s.height) : text("[ ", s.width, ", ", s.height, " ]"));
  }
  std::string finished() const { return xml_ ? contents_ + "</opencv_storage>\n" : contents_; }

 private:
  bool xml_;
  std::string contents_;
};

std::array<double, 9> matrix_of(const Lens& lens) { return {lens.fx, 0, lens.cx, 0, lens.fy, lens.cy, 0, 0, 1}; }
// Returns K·(I | t) of a rectified camera that lies `x` to the right of the left camera.
std::array<double, 12> projection_of(const Rig& rig, double cx, double x) {
  return {rig.focal, 0, cx, -rig.focal * x, 0, rig.focal, rig.cy, 0, 0, 0, 1, 0};
}

// Returns only the coefficients that the lens model needs: 5 (plumb bob), 8 (rational) or 12, and 4 for a fisheye lens.
Numbers coefficients_of(const Lens& lens) {
  if (lens.model == Lens::Model::fisheye) return {lens.distortion.data(), 4};
  std::size_t count = 12;
  while (count > 5 && lens.distortion[count - 1] == 0) --count;
  return {lens.distortion.data(), count <= 5 ? 5U : count <= 8 ? 8U : 12U};
}

void add_rig(Storage& file, const Rig& rig) {
  file.matrix("P1", 3, 4, projection_of(rig, rig.cx_left, 0));
  file.matrix("P2", 3, 4, projection_of(rig, rig.cx_right, rig.baseline));
  file.matrix("Q", 4, 4, reprojection_of(rig));
}

void add_size(Storage& file, Size size) {
  if (size == Size{}) return;
  file.value("image_width", text(size.width));
  file.value("image_height", text(size.height));
}

std::string camera_info(const char* name, const StereoCalibration& c, const CalibratedCamera& camera,
                        Numbers projection) {
  const Numbers distortion = coefficients_of(camera.lens);
  const char* model = camera.lens.model == Lens::Model::fisheye ? "equidistant"
                      : distortion.size() == 5                  ? "plumb_bob"
                                                                : "rational_polynomial";
  const auto matrix = [](const char* title, int rows, std::size_t columns, Numbers data) {
    return text(title, ":\n  rows: ", rows, "\n  cols: ", columns, "\n  data: [", list_of(data, ", "), "]\n");
  };
  return text("image_width: ", c.size.width, "\nimage_height: ", c.size.height, "\ncamera_name: ", name, '\n') +
         matrix("camera_matrix", 3, 3, matrix_of(camera.lens)) + text("distortion_model: ", model, '\n') +
         matrix("distortion_coefficients", 1, distortion.size(), distortion) +
         matrix("rectification_matrix", 3, 3, camera.rectification) + matrix("projection_matrix", 3, 4, projection);
}

}  // namespace

void write_calibration(const std::filesystem::path& file, const StereoCalibration& c) {
  Storage storage(file);
  add_size(storage, c.size);
  if (c.rig.size != c.size || (c.size != Size{} && io::is_for_another_size(c.rig, c.size)))
    storage.size("rectified_size", c.rig.size);
  if (!c.rig.unit.empty()) storage.word("unit", c.rig.unit);
  if (c.left.lens.model != c.right.lens.model)
    throw Error(ErrorCategory::call,
                "one camera has a fisheye lens and the other has not; both must have the same lens model");
  if (c.left.lens.model == Lens::Model::fisheye) storage.word("distortion_model", "fisheye");
  const auto camera = [&](const CalibratedCamera& one, const char* m, const char* d) {
    const Numbers distortion = coefficients_of(one.lens);
    storage.matrix(m, 3, 3, matrix_of(one.lens));
    storage.matrix(d, 1, static_cast<int>(distortion.size()), distortion);
  };
  camera(c.left, "M1", "D1");
  camera(c.right, "M2", "D2");
  storage.matrix("R", 3, 3, c.rotation);
  storage.matrix("T", 3, 1, c.translation);
  storage.matrix("R1", 3, 3, c.left.rectification);
  storage.matrix("R2", 3, 3, c.right.rectification);
  add_rig(storage, c.rig);
  io::write_file(file, storage.finished());
}

void write_rig(const std::filesystem::path& file, const Rig& rig) {
  Storage storage(file);
  add_size(storage, rig.size);
  if (!rig.unit.empty()) storage.word("unit", rig.unit);
  add_rig(storage, rig);
  io::write_file(file, storage.finished());
}

void write_camera_info(const std::filesystem::path& left, const std::filesystem::path& right,
                       const StereoCalibration& c) {
  if (c.rig.unit != "mm" && c.rig.unit != "m")
    throw Error(ErrorCategory::call, text(left.string(),
                                          ": ROS requires metres, but the unit of the calibration is not known; "
                                          "calibrate with the squares of the board in mm or m"));
  if (c.rig.size != c.size)
    throw Error(ErrorCategory::call, text(left.string(),
                                          ": camera_info has one size for raw and rectified images, but this "
                                          "calibration has two sizes; write the calibration as .yml"));
  const double baseline = c.rig.baseline * (c.rig.unit == "mm" ? 1e-3 : 1);
  const std::string left_info = camera_info("left", c, c.left, projection_of(c.rig, c.rig.cx_left, 0));
  io::write_file(right, camera_info("right", c, c.right, projection_of(c.rig, c.rig.cx_right, baseline)));
  io::write_file(left, left_info);
}

}  // namespace stereopsis
