#include "arrays.hpp"
#include "bindings.hpp"
#include "geometry/stereo_rectify.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/length.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::python {
namespace {

using Path = std::filesystem::path;
using RigState = std::tuple<double, double, double, double, double, std::string, std::pair<int, int>>;

using CameraState = std::tuple<double, double, double, double, std::string, std::array<double, 12>, Matrix3>;
using CalibrationState = std::tuple<std::pair<int, int>, CalibratedCamera, CalibratedCamera, Matrix3, Vector3, Rig>;

// A number in the unit of the rig, or a text with a unit, such as "12cm".
using GivenLength = std::variant<double, std::string>;

double in_unit(const GivenLength& given, const std::string& unit) {
  if (const double* number = std::get_if<double>(&given)) return *number;
  return parse_length(std::get<std::string>(given)).in(unit);
}

Rig make_rig(double focal, const GivenLength& baseline, double cx_left, double cy, std::optional<double> cx_right,
             std::string unit, std::pair<int, int> size) {
  if (const auto* text = std::get_if<std::string>(&baseline); text != nullptr && unit.empty())
    unit = parse_length(*text).as_of_rig().unit;
  return {focal, cx_left, cx_right.value_or(cx_left), cy, in_unit(baseline, unit), unit, {size.first, size.second}};
}

KittiPair kitti_pair(const std::string& cameras) {
  if (cameras == "any") return KittiPair::any;
  if (cameras == "grey") return KittiPair::grey;
  if (cameras == "color" || cameras == "colour") return KittiPair::colour;
  throw Error(
      ErrorCategory::call,
      "cameras='" + cameras + "' is not allowed; it must be 'any', 'grey' or 'color', the cameras of a KITTI file");
}

// Warns of what a calibration file holds, at the first line outside of the package.
void warn(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  const nb::object category = nb::module_::import_("stereopsis._errors").attr("CalibrationWarning");
  for (const std::string& sentence : sentences)
    nb::module_::import_("stereopsis._pair").attr("warn")(sentence, category);
}

CalibrationOptions options_of(const std::string& cameras, std::pair<int, int> size, const std::string& lens,
                              double scale) {
  CalibrationOptions options{
      .pair = kitti_pair(cameras), .size = {size.first, size.second}, .lens = {}, .scale = scale};
  if (!lens.empty()) options.lens = lens_model(lens);
  return options;
}

Rig read_rig_file(const Path& file, const std::optional<Path>& right, const std::string& cameras,
                  std::pair<int, int> size, const std::string& lens, double scale) {
  const CalibrationOptions options = options_of(cameras, size, lens, scale);
  CalibrationFile read = read_calibration_file(file, right, options);
  const Size images = read.rig.size == Size{} ? options.size : read.rig.size;
  warn(read.warnings);
  if (images != Size{}) warn(calibration_warnings(read.rig, images, scale));
  return read.rig;
}

StereoCalibration read_cameras(const Path& file, const std::optional<Path>& second, const std::string& cameras,
                               std::pair<int, int> size, const std::string& lens, double scale) {
  const CalibrationFile read = read_calibration_file(file, second, options_of(cameras, size, lens, scale));
  if (!read.cameras) throw *read.no_cameras;
  warn(read.warnings);
  warn(calibration_warnings(*read.cameras, scale));
  return *read.cameras;
}

const char* name_of(Lens::Model model) { return model == Lens::Model::fisheye ? "fisheye" : "polynomial"; }

Lens::Model model_of(const std::string& name) {
  if (name == "polynomial") return Lens::Model::polynomial;
  if (name == "fisheye") return Lens::Model::fisheye;
  throw Error(ErrorCategory::call, "model='" + name + "' is not allowed; it must be 'polynomial' or 'fisheye'");
}

CalibratedCamera make_camera(double fx, double fy, double cx, double cy, const std::string& model,
                             const std::vector<double>& distortion, const Matrix3& rectification) {
  CalibratedCamera camera{{fx, fy, cx, cy, model_of(model), {}}, rectification};
  const std::size_t most = camera.lens.model == Lens::Model::fisheye ? 4 : camera.lens.distortion.size();
  if (distortion.size() > most)
    throw Error(ErrorCategory::call, "distortion has " + std::to_string(distortion.size()) + " coefficients; " +
                                         name_of(camera.lens.model) + " has up to " + std::to_string(most));
  std::copy(distortion.begin(), distortion.end(), camera.lens.distortion.begin());
  return camera;
}

std::string size_of(Size size) { return std::to_string(size.width) + "×" + std::to_string(size.height); }

// Both views, and masks of the pixels without a usable source: None if every pixel has one.
nb::tuple rectify(const RectificationMaps& maps, nb::handle left, nb::handle right, nb::handle mask_left,
                  nb::handle mask_right) {
  nb::dict inputs;
  inputs["left"] = left;
  inputs["right"] = right;
  inputs["mask_left"] = mask_left;
  inputs["mask_right"] = mask_right;
  const BorrowedPair lent(inputs, 0, "rgb", nb::none());
  if (lent.is_on_device()) refuse("left and right are on a GPU; copy them to the host first, as NumPy arrays");
  for (const AnyImageView& view : {lent.pair.left, lent.pair.right})
    if (view.size() != maps.input)
      throw Error(ErrorCategory::call, "an image has " + size_of(view.size()) + " pixels, but the calibration is for " +
                                           size_of(maps.input) + "; pass raw images of the calibrated cameras");
  const auto views = [&] {
    const nb::gil_scoped_release release;
    return std::pair(rectified(lent.pair.left, maps.left, lent.pair.mask_left),
                     rectified(lent.pair.right, maps.right, lent.pair.mask_right));
  }();
  const auto mask = [](const RectifiedView& view, bool complete) {
    return complete ? nb::object(nb::none()) : give(view.usable);
  };
  return nb::make_tuple(give(views.first.image), give(views.second.image),
                        mask(views.first, maps.left_complete && mask_left.is_none()),
                        mask(views.second, maps.right_complete && mask_right.is_none()));
}

std::string shown(const Rig& r) {
  return "Rig(focal=" + nb::cast<std::string>(nb::repr(nb::float_(r.focal))) +
         ", baseline=" + nb::cast<std::string>(nb::repr(nb::float_(r.baseline))) + ", unit='" + r.unit + "')";
}

}  // namespace

void bind_rig(nb::module_& m) {
  nb::class_<Rig>(
      m, "Rig", nb::type_slots(checked_constructor),
      "A calibrated, rectified rig: Z = focal · baseline / (d − (cx_left − cx_right)).\n\n"
      "`focal`, `cx_left`, `cx_right` and `cy` are in pixels; the centre of a pixel has integer "
      "coordinates. `baseline`\n"
      "is in `unit`: \"mm\", \"m\", or \"\" if the unit is not known. `size` is (width, height), or (0, 0) "
      "if it is not known.\n"
      "If `cx_right` is None, it equals `cx_left`. `baseline` may be a text such as \"120mm\" or \"12cm\", which "
      "gives\n"
      "the unit.")
      .def(
          "__init__",
          [](Rig* self, double focal, const GivenLength& baseline, double cx_left, double cy,
             std::optional<double> cx_right, const std::string& unit, std::pair<int, int> size) {
            new (self) Rig(make_rig(focal, baseline, cx_left, cy, cx_right, unit, size));
          },
          nb::kw_only(), "focal"_a, "baseline"_a, "cx_left"_a = 0.0, "cy"_a = 0.0, "cx_right"_a = nb::none(),
          "unit"_a = "", "size"_a = std::pair(0, 0))
      .def_ro("focal", &Rig::focal, "Focal length, in pixels; > 0.")
      .def_ro("baseline", &Rig::baseline, "Distance between the cameras, in `unit`; > 0.")
      .def_ro("cx_left", &Rig::cx_left, "Column of the left principal point, in pixels.")
      .def_ro("cx_right", &Rig::cx_right, "Column of the right principal point, in pixels.")
      .def_ro("cy", &Rig::cy, "Row of both principal points, in pixels.")
      .def_ro("unit", &Rig::unit, "Unit of the baseline and of depths: \"mm\", \"m\" or \"\".")
      .def_prop_ro(
          "size", [](const Rig& r) { return to_pair(r.size); },
          "(width, height) of the rectified images, or (0, 0) if it is not known.")
      .def("depth", &Rig::depth, "disparity"_a, "Returns the depth Z, in `unit`, of a disparity in pixels.")
      .def("disparity", &Rig::disparity, "depth"_a, "Returns the disparity, in pixels, of a depth in `unit`.")
      .def(
          "range",
          [](const Rig& r, const GivenLength& near, const GivenLength& far) {
            const DisparityRange range = r.range(in_unit(near, r.unit), in_unit(far, r.unit));
            return std::pair(range.min, range.min + range.count);
          },
          "near"_a, "far"_a,
          "Returns the search range (first, end) of all depths from `near` to `far`: numbers in `unit`, or texts such\n"
          "as \"1.5m\". Raises CallError.")
      .def_static(
          "read", &read_rig_file, "file"_a, "right"_a = nb::none(), "cameras"_a = "any", "size"_a = std::pair(0, 0),
          "lens"_a = "", "scale"_a = 1.0,
          "Reads the rig of rectified pairs from a calibration file or folder, or from one file per camera.\n\n"
          "The formats and the arguments are the same as for read_calibration(). `size` is the (width, height) of the\n"
          "images, for a file without an image size. Warns with CalibrationWarning. Raises FileError, FormatError and\n"
          "CallError.")
      .def(
          "write", [](const Rig& r, const Path& file) { write_rig(file, r); }, "file"_a,
          "Writes OpenCV's YAML or XML, with P1, P2 and Q. Raises FileError.")
      .def("__repr__", &shown)
      .def("__getstate__",
           [](const Rig& r) {
             return RigState(r.focal, r.cx_left, r.cx_right, r.cy, r.baseline, r.unit, to_pair(r.size));
           })
      .def("__setstate__", [](Rig& r, const RigState& s) {
        const auto& [focal, cx_left, cx_right, cy, baseline, unit, size] = s;
        new (&r) Rig{focal, cx_left, cx_right, cy, baseline, unit, {size.first, size.second}};
      });

  nb::class_<CalibratedCamera>(m, "Camera", nb::type_slots(checked_constructor),
                               "A raw camera: its lens, and the rotation that rectifies it.\n\n"
                               "`distortion` has OpenCV's coefficients of the model 'polynomial' (k1 k2 p1 p2 k3 k4 "
                               "k5 k6 s1 s2 s3 s4)\n"
                               "or 'fisheye' (k1 k2 k3 k4). `rectification` is the rotation from the camera's frame "
                               "to the rectified\n"
                               "frame, row by row.")
      .def(
          "__init__",
          [](CalibratedCamera* self, double fx, double fy, double cx, double cy, const std::string& model,
             const std::vector<double>& distortion, const Matrix3& rectification) {
            new (self) CalibratedCamera(make_camera(fx, fy, cx, cy, model, distortion, rectification));
          },
          nb::kw_only(), "fx"_a, "fy"_a, "cx"_a, "cy"_a, "model"_a = "polynomial",
          "distortion"_a = std::vector<double>(), "rectification"_a = CalibratedCamera().rectification)
      .def_prop_ro(
          "fx", [](const CalibratedCamera& c) { return c.lens.fx; }, "Horizontal focal length, in pixels.")
      .def_prop_ro(
          "fy", [](const CalibratedCamera& c) { return c.lens.fy; }, "Vertical focal length, in pixels.")
      .def_prop_ro(
          "cx", [](const CalibratedCamera& c) { return c.lens.cx; }, "Column of the principal point, in pixels.")
      .def_prop_ro(
          "cy", [](const CalibratedCamera& c) { return c.lens.cy; }, "Row of the principal point, in pixels.")
      .def_prop_ro(
          "model", [](const CalibratedCamera& c) { return name_of(c.lens.model); }, "'polynomial' or 'fisheye'.")
      .def_prop_ro(
          "distortion", [](const CalibratedCamera& c) { return c.lens.distortion; }, "12 coefficients of the lens.")
      .def_ro("rectification", &CalibratedCamera::rectification, "9 elements of the rotation, row by row.")
      .def("__getstate__",
           [](const CalibratedCamera& c) {
             return CameraState(c.lens.fx, c.lens.fy, c.lens.cx, c.lens.cy, name_of(c.lens.model), c.lens.distortion,
                                c.rectification);
           })
      .def("__setstate__", [](CalibratedCamera& c, const CameraState& s) {
        const auto& [fx, fy, cx, cy, model, distortion, rectification] = s;
        new (&c) CalibratedCamera{{fx, fy, cx, cy, model_of(model), distortion}, rectification};
      });

  nb::class_<StereoCalibration>(
      m, "Calibration", nb::type_slots(checked_constructor),
      "The calibration of two raw cameras, with which pairs are rectified: X_right = rotation · X_left + "
      "translation.\n\n"
      "calibrate() and read_calibration() return a calibration, for `calibration=` of match() and Matcher.")
      .def(
          "__init__",
          [](StereoCalibration* self, std::pair<int, int> size, const CalibratedCamera& left,
             const CalibratedCamera& right, const Matrix3& rotation, const Vector3& translation, const Rig& rig) {
            new (self) StereoCalibration{{size.first, size.second}, left, right, rotation, translation, rig};
          },
          nb::kw_only(), "size"_a, "left"_a, "right"_a, "rotation"_a, "translation"_a, "rig"_a)
      .def_prop_ro(
          "size", [](const StereoCalibration& c) { return to_pair(c.size); }, "(width, height) of the raw images.")
      .def_ro("left", &StereoCalibration::left, "Left camera.")
      .def_ro("right", &StereoCalibration::right, "Right camera.")
      .def_ro("rotation", &StereoCalibration::rotation, "9 elements of the rotation, row by row.")
      .def_ro("translation", &StereoCalibration::translation, "Translation, in the unit of the rig.")
      .def_ro("rig", &StereoCalibration::rig, "Rig of the rectified pair.")
      .def(
          "write", [](const StereoCalibration& c, const Path& file) { write_calibration(file, c); }, "file"_a,
          "Writes OpenCV's YAML or XML, which read_calibration() and the command's --calib read. Raises FileError.")
      .def(
          "write_camera_info",
          [](const StereoCalibration& c, const Path& left, const Path& right) { write_camera_info(left, right, c); },
          "left"_a, "right"_a,
          "Writes two ROS camera_info files, with lengths in metres. Raises FileError, and CallError if the unit is "
          "not known.")
      .def("__repr__",
           [](const StereoCalibration& c) { return "<calibration of " + size_of(c.size) + ": " + shown(c.rig) + ">"; })
      .def("__getstate__",
           [](const StereoCalibration& c) {
             return CalibrationState(to_pair(c.size), c.left, c.right, c.rotation, c.translation, c.rig);
           })
      .def("__setstate__", [](StereoCalibration& c, const CalibrationState& s) {
        const auto& [size, left, right, rotation, translation, rig] = s;
        new (&c) StereoCalibration{{size.first, size.second}, left, right, rotation, translation, rig};
      });

  nb::class_<RectificationMaps>(m, "Rectification", nb::type_slots(checked_constructor),
                                "Rectifies raw pairs with a calibration.")
      .def(
          "__init__",
          [](RectificationMaps* self, const StereoCalibration& c) {
            new (self) RectificationMaps(rectification_maps(c));
          },
          "calibration"_a)
      .def_prop_ro(
          "size", [](const RectificationMaps& r) { return to_pair(r.size()); },
          "(width, height) of the rectified images.")
      .def_prop_ro(
          "complete", [](const RectificationMaps& r) { return r.left_complete && r.right_complete; },
          "True if every rectified pixel has a source in the raw images.")
      .def(
          "aligned", &aligned_maps, "rows"_a,
          "Returns a Rectification that also aligns the rows of the right image, so that pixels are interpolated once.")
      .def(
          "__call__", &rectify, "left"_a.none(), "right"_a.none(), "mask_left"_a = nb::none(),
          "mask_right"_a = nb::none(),
          nb::sig("def __call__(self, left: object, right: object, mask_left: object | None = None, mask_right: object "
                  "| None = None) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray | None, numpy.ndarray | None]"),
          "Returns both rectified images and their masks. A mask is 0 at pixels without a source that the given mask\n"
          "leaves, and None if every pixel has one. A Matcher with `calibration=` computes the same pixels.");

  m.def(
      "stereo_rectified",
      [](std::pair<int, int> size, const CalibratedCamera& left, const CalibratedCamera& right, const Matrix3& rotation,
         const Vector3& translation, const std::string& unit, double zoom) {
        StereoCalibration c = stereopsis::stereo_rectified(
            {{size.first, size.second}, left.lens, right.lens, {rotation, translation}, unit}, zoom);
        if (zoom == 0) close_gaps(c);
        return c;
      },
      "size"_a, "left"_a, "right"_a, "rotation"_a, "translation"_a, "unit"_a, "zoom"_a,
      "Rectifies two cameras, as calibrate() does.");

  m.def(
      "parse_length",
      [](const std::string& text) {
        const Length length = parse_length(text).as_of_rig();
        return std::pair(length.value, length.unit);
      },
      "text"_a, "Returns a length such as \"12cm\" as a number in a unit that a rig can have: mm, m or none.");
  m.def(
      "length_in", [](const std::string& text, const std::string& unit) { return parse_length(text).in(unit); },
      "text"_a, "unit"_a, "Returns a length such as \"12cm\" in mm or m. A number without a unit is in this unit.");
  m.def(
      "read_calibration", &read_cameras, "file"_a, "second"_a = nb::none(), "cameras"_a = "any",
      "size"_a = std::pair(0, 0), "lens"_a = "", "scale"_a = 1.0,
      "Reads the calibration of raw cameras, for `calibration=` of match() and Matcher.\n\n"
      "The formats are those of the guide \"Calibration and input formats\": OpenCV, ROS, Kalibr, EuRoC, KITTI, ZED "
      "and\n"
      "others. `second` is the file of the right camera, or the second of OpenCV's two files, extrinsics and\n"
      "intrinsics. `cameras` selects the cameras of a KITTI file: 'grey', 'color' or 'any'. `size` is the (width,\n"
      "height) of the images, for a file that has no image size or several. `lens` is 'radtan' or 'equidistant' for a\n"
      "file that does not name its lens model. `scale` is the width of the images divided by the width of the\n"
      "calibrated images. Warns with CalibrationWarning if the file contradicts itself or its images. Raises "
      "FileError,\n"
      "FormatError and CallError. For a rectified pair, use Rig.read().");
}

}  // namespace stereopsis::python
