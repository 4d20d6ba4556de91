#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/rectification.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace stereopsis::python {
namespace {

using Path = std::filesystem::path;
using State = std::tuple<double, double, double, double, double, std::string, std::pair<int, int>>;

std::pair<int, int> to_pair(Size size) { return {size.width, size.height}; }

Rig make_rig(double focal, double baseline, double cx_left, double cy, std::optional<double> cx_right,
             const std::string& unit, std::pair<int, int> size) {
  return {focal, cx_left, cx_right.value_or(cx_left), cy, baseline, unit, {size.first, size.second}};
}

KittiPair kitti_pair(const std::string& cameras) {
  if (cameras == "any") return KittiPair::any;
  if (cameras == "grey") return KittiPair::grey;
  if (cameras == "colour") return KittiPair::colour;
  throw Error(ErrorCategory::call,
              "cameras='" + cameras + "' is not allowed; it must be 'any', 'grey' or 'colour', of a KITTI file");
}

std::string size_of(Size size) { return std::to_string(size.width) + "×" + std::to_string(size.height); }

// Both views, and masks of what has no source: None where every pixel has one.
nb::tuple rectify(const RectificationMaps& maps, nb::handle left, nb::handle right) {
  const LentPair lent(left, right, nb::none(), nb::none(), nb::none(), 0, false, nb::none());
  if (lent.is_on_device()) refuse("left and right are on a GPU; copy them to the host first, as NumPy arrays");
  for (const AnyImageView& view : {lent.pair.left, lent.pair.right})
    if (view.size() != maps.input)
      throw Error(ErrorCategory::call, "a picture has " + size_of(view.size()) + " pixels, but the calibration is of " +
                                           size_of(maps.input) + "; give pictures of the calibrated cameras as they are");
  const auto views = [&] {
    const nb::gil_scoped_release release;
    return std::pair(rectified(lent.pair.left, maps.left), rectified(lent.pair.right, maps.right));
  }();
  const auto mask = [](const RectifiedView& view, bool complete) {
    return complete ? nb::object(nb::none()) : give(view.usable);
  };
  return nb::make_tuple(give(views.first.image), give(views.second.image), mask(views.first, maps.left_complete),
                        mask(views.second, maps.right_complete));
}

std::string shown(const Rig& r) {
  return "Rig(focal=" + nb::cast<std::string>(nb::repr(nb::float_(r.focal))) +
         ", baseline=" + nb::cast<std::string>(nb::repr(nb::float_(r.baseline))) + ", unit='" + r.unit + "')";
}

}  // namespace

void bind_rig(nb::module_& m) {
  nb::class_<Rig>(
      m, "Rig",
      "A calibrated, rectified rig: Z = focal · baseline / (d − (cx_left − cx_right)).\n\n"
      "focal, cx_left, cx_right and cy are in pixels (a pixel's centre is at whole coordinates), baseline in `unit`\n"
      "(\"mm\", \"m\", or \"\" where it is not known), size is (width, height) or (0, 0).")
      .def(
          "__init__",
          [](Rig* self, double focal, double baseline, double cx_left, double cy, std::optional<double> cx_right,
             const std::string& unit, std::pair<int, int> size) {
            new (self) Rig(make_rig(focal, baseline, cx_left, cy, cx_right, unit, size));
          },
          nb::kw_only(), "focal"_a, "baseline"_a, "cx_left"_a = 0.0, "cy"_a = 0.0, "cx_right"_a = nb::none(),
          "unit"_a = "", "size"_a = std::pair(0, 0))
      .def_ro("focal", &Rig::focal, "Pixels.")
      .def_ro("baseline", &Rig::baseline, "In `unit`.")
      .def_ro("cx_left", &Rig::cx_left, "Pixels.")
      .def_ro("cx_right", &Rig::cx_right, "Pixels.")
      .def_ro("cy", &Rig::cy, "Pixels.")
      .def_ro("unit", &Rig::unit)
      .def_prop_ro(
          "size", [](const Rig& r) { return to_pair(r.size); }, "(width, height) of the images.")
      .def("depth", &Rig::depth, "disparity"_a, "Z in `unit`, of a disparity in pixels.")
      .def("disparity", &Rig::disparity, "depth"_a, "The disparity in pixels, of a depth in `unit`.")
      .def(
          "range",
          [](const Rig& r, double near, double far) {
            const DisparityRange range = r.range(near, far);
            return std::pair(range.min, range.min + range.count);
          },
          "near"_a, "far"_a, "The disparities (first, end) of all depths from near to far, in `unit`.")
      .def_static(
          "read",
          [](const Path& file, const std::optional<Path>& right, const std::string& cameras) {
            return read_rig(file, right, kitti_pair(cameras));
          },
          "file"_a, "right"_a = nb::none(), "cameras"_a = "any",
          "Middlebury's and KITTI's calib.txt, OpenCV's YAML or XML with P1 and P2 or Q, or two ROS camera_info\n"
          "files. Of KITTI's, `cameras` is 'grey', 'colour' or 'any'. Raises FileError and FormatError.")
      .def(
          "write", [](const Rig& r, const Path& file) { write_rig(file, r); }, "file"_a,
          "As OpenCV's YAML or XML, with P1, P2 and Q.")
      .def("__repr__", &shown)
      .def(
          "__getstate__",
          [](const Rig& r) { return State(r.focal, r.cx_left, r.cx_right, r.cy, r.baseline, r.unit, to_pair(r.size)); })
      .def("__setstate__", [](Rig& r, const State& s) {
        const auto& [focal, cx_left, cx_right, cy, baseline, unit, size] = s;
        new (&r) Rig{focal, cx_left, cx_right, cy, baseline, unit, {size.first, size.second}};
      });

  nb::class_<StereoCalibration>(m, "Calibration", "Two cameras as they are, before their images are rectified.")
      .def_prop_ro(
          "size", [](const StereoCalibration& c) { return to_pair(c.size); },
          "(width, height) of the images as the cameras give them.")
      .def_ro("rig", &StereoCalibration::rig, "Of the rectified pair.");

  nb::class_<RectificationMaps>(m, "Rectification", "Where the pixels of rectified pairs come from.")
      .def(
          "__init__",
          [](RectificationMaps* self, const StereoCalibration& c) { new (self) RectificationMaps(rectification_maps(c)); },
          "calibration"_a)
      .def("__call__", &rectify, "left"_a, "right"_a,
           nb::sig("def __call__(self, left: object, right: object) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray | "
                   "None, numpy.ndarray | None]"),
           "Both images rectified, as `calibration=` of Matcher does it, and masks: 0 where there is no source, None where\n"
           "every pixel has one.");

  m.def(
      "read_calibration",
      [](const Path& file, const std::optional<Path>& second, const std::string& cameras, std::pair<int, int> size) {
        return read_calibration(file, second, kitti_pair(cameras), {size.first, size.second});
      },
      "file"_a, "second"_a = nb::none(), "cameras"_a = "any", "size"_a = std::pair(0, 0),
      "The cameras of a pair that is not rectified, for `calibration=` of match and Matcher: OpenCV's YAML or XML (one "
      "file, or\n"
      "extrinsics and intrinsics), two ROS camera_info files, or KITTI's calib_cam_to_cam.txt. `size` is (width, "
      "height) where\n"
      "the file does not say. Raises FileError and FormatError. Of a rectified pair: Rig.read.");
}

}  // namespace stereopsis::python
