// Depth registered to other cameras.

#include <filesystem>
#include <tuple>
#include <variant>

#include "arrays.hpp"
#include "bindings.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/registration.hpp"

namespace stereopsis::python {
namespace {

using State = std::tuple<CalibratedCamera, std::pair<int, int>, Matrix3, Vector3>;

PosedCamera make_camera(const CalibratedCamera& camera, std::pair<int, int> size, const Matrix3& rotation,
                        const Vector3& translation) {
  return {camera.lens, {size.first, size.second}, rotation, translation};
}

CalibratedCamera camera_of(const PosedCamera& posed) {
  CalibratedCamera camera;
  camera.lens = posed.lens;
  return camera;
}

// The arrays of a registered depth, which keep its memory.
struct Registered {
  nb::object depth, points, source;
};

Registered register_array(nb::handle array, const std::variant<Rig, StereoCalibration>& cameras, const PosedCamera& to,
                          int threads) {
  const BorrowedArray lent = host_array(array, "depth");
  const ImageView<const float> depth = lent.disparity();
  RegisteredDepth result = [&] {
    const nb::gil_scoped_release release;
    if (const auto* rig = std::get_if<Rig>(&cameras)) return register_depth(depth, *rig, to, threads);
    const auto& calibration = std::get<StereoCalibration>(cameras);
    return register_depth(depth, calibration.rig, posed_relative_to_raw(to, calibration), threads);
  }();
  return {give(std::move(result.depth)), give(std::move(result.points)), give(std::move(result.source))};
}

}  // namespace

void bind_registration(nb::module_& m) {
  nb::class_<PosedCamera>(
      m, "PosedCamera", nb::type_slots(checked_constructor),
      "A camera to which depth is registered: X = rotation · X_left + translation.\n\n"
      "X_left is a point in the frame of the raw left camera, or of the rectified left camera if the raw cameras are\n"
      "not known. The translation is in the unit of the rig. `size` is the (width, height) of the camera's images.")
      .def(
          "__init__",
          [](PosedCamera* self, const CalibratedCamera& camera, std::pair<int, int> size, const Matrix3& rotation,
             const Vector3& translation) { new (self) PosedCamera(make_camera(camera, size, rotation, translation)); },
          "camera"_a, nb::kw_only(), "size"_a, "rotation"_a = PosedCamera().rotation,
          "translation"_a = PosedCamera().translation)
      .def_static(
          "raw_left",
          [](const StereoCalibration& c) { return make_camera(c.left, to_pair(c.size), PosedCamera().rotation, {}); },
          "calibration"_a, "Returns the raw left camera of a calibration.")
      .def_static(
          "read",
          [](const std::filesystem::path& file, const std::optional<std::string>& unit,
             const std::optional<std::filesystem::path>& left) {
            return read_posed_camera(file, unit, left.value_or(std::filesystem::path()));
          },
          "file"_a, "unit"_a = nb::none(), "left"_a = nb::none(),
          "Reads a camera with K, D, image_width, image_height, R and T in the notation of OpenCV or ROS, cam2 of a\n"
          "Kalibr camchain, EuRoC's sensor.yaml, or the camera named color or rgb of RealSense parameters (JSON).\n"
          "`left` is the calibration of the left camera, which only EuRoC requires. The translation is converted to\n"
          "`unit`, the unit of the rig (\"\" if the rig has none). With None, the translation stays in the unit of "
          "the\n"
          "file. Raises FileError, FormatError, and CallError if only one of the file and the rig has a unit.")
      .def_prop_ro(
          "camera", [](const PosedCamera& c) { return camera_of(c); }, "Lens of the camera.")
      .def_prop_ro(
          "size", [](const PosedCamera& c) { return to_pair(c.size); }, "(width, height) of the camera's images.")
      .def_ro("rotation", &PosedCamera::rotation, "9 elements of the rotation, row by row.")
      .def_ro("translation", &PosedCamera::translation, "Translation, in the unit of the rig.")
      .def("__getstate__",
           [](const PosedCamera& c) { return State(camera_of(c), to_pair(c.size), c.rotation, c.translation); })
      .def("__setstate__", [](PosedCamera& c, const State& s) {
        const auto& [camera, size, rotation, translation] = s;
        new (&c) PosedCamera(make_camera(camera, size, rotation, translation));
      });

  nb::class_<Registered>(
      m, "RegisteredDepth",
      "Depth in the view of another camera. Pixels are NaN if the left camera does not see their surface.")
      .def_ro("depth", &Registered::depth, nb::sig("def depth(self) -> numpy.typing.NDArray[numpy.float32]"),
              "(h, w) float32: Z in the frame of the camera, in the unit of the rig.")
      .def_ro("points", &Registered::points, nb::sig("def points(self) -> numpy.typing.NDArray[numpy.float32]"),
              "(h, w, 3) float32: x, y and z in the frame of the camera, in the unit of the rig.")
      .def_ro("source", &Registered::source, nb::sig("def source(self) -> numpy.typing.NDArray[numpy.float32]"),
              "(h, w, 2) float32: column and row in the rectified left image at which the point is visible.");

  m.def("register_depth", &register_array, "depth"_a.none(), "cameras"_a, "to"_a, "threads"_a = 0,
        nb::sig("def register_depth(depth: object, cameras: Rig | Calibration, to: PosedCamera, threads: int = 0) -> "
                "RegisteredDepth"),
        "Registers a depth map of the rectified left view, (h, w) float32, to another camera.\n\n"
        "`cameras` is the calibration of the pair, or the rig of a rectified pair. With a rig, the pose of `to` is\n"
        "relative to the rectified left camera. Surfaces behind nearer ones are hidden. Pixels without a surface that "
        "the\n"
        "left camera sees are NaN. With `threads` = 0, all CPU threads are used. Raises CallError.");
}

}  // namespace stereopsis::python
