// The ground and obstacles in depth maps.
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "core/text.hpp"
#include "stereopsis/obstacles.hpp"

namespace stereopsis::python {
namespace {

// The depth map and the confidence of a call.
struct Maps {
  Maps(nb::handle depth_, nb::handle confidence_) : depth(depth_, "depth"), confidence() {
    if (!confidence_.is_none()) confidence = BorrowedArray(confidence_, "confidence");
    if (!depth.device().empty() || !confidence.device().empty())
      refuse("depth and confidence are on a GPU; copy them to the host first, as NumPy arrays");
    if (!confidence_.is_none()) confidences = confidence.disparity();
  }
  BorrowedArray depth, confidence;
  ImageView<const float> confidences;
};

// The arrays of the obstacles, which keep their memory.
struct Found {
  std::vector<Obstacle> list;
  nb::object labels, height;
  Ground ground;
};

Found find(nb::handle depth, const Rig& rig, std::optional<double> nearer_than, nb::handle confidence,
           double min_confidence, std::optional<double> lowest, std::optional<double> highest,
           std::optional<double> min_area, double disparity_error, const std::optional<Ground>& ground) {
  const Maps maps(depth, confidence);
  const ImageView<const float> depths = maps.depth.disparity();
  ObstacleOptions options = obstacle_options(rig);
  options.nearer_than = nearer_than.value_or(options.nearer_than);
  options.lowest = lowest.value_or(options.lowest);
  options.highest = highest.value_or(options.highest);
  options.min_area = min_area.value_or(options.min_area);
  options.min_confidence = min_confidence;
  options.disparity_error = disparity_error;
  options.ground = ground;
  Obstacles found = [&] {
    const nb::gil_scoped_release release;
    return find_obstacles(depths, rig, options, maps.confidences);
  }();
  return {std::move(found.list), give(std::move(found.labels)), give(std::move(found.height)), found.ground};
}

std::optional<Ground> fit(nb::handle depth, const Rig& rig, nb::handle confidence, double min_confidence) {
  const Maps maps(depth, confidence);
  const ImageView<const float> depths = maps.depth.disparity();
  const nb::gil_scoped_release release;
  return fit_ground(depths, rig, maps.confidences, min_confidence);
}

std::string text_of_obstacle(const Obstacle& o) {
  return text("<obstacle at ", o.distance, ", ", o.height, " above the ground, ", o.box.width, "×", o.box.height,
              " pixels at (", o.box.x, ", ", o.box.y, ")>");
}

}  // namespace

void bind_obstacles(nb::module_& m) {
  nb::class_<Ground>(m, "Ground", nb::type_slots(checked_constructor),
                     "A plane in the optical frame of the left camera (x right, y down, z forward).")
      .def(
          "__init__",
          [](Ground* self, double camera_height, const Vector3& up) {
            new (self) Ground{.up = up, .camera_height = camera_height};
          },
          "camera_height"_a, "up"_a = Ground().up)
      .def_ro("up", &Ground::up, "Unit vector that points up.")
      .def_ro("camera_height", &Ground::camera_height, "Height of the left camera, in the unit of the rig.")
      .def_ro("share", &Ground::share, "Share of the measured pixels in the lower half that are on the plane.")
      .def_ro("below", &Ground::below, "Share of these pixels that are more than 2 px behind the plane.")
      .def_ro("doubt", &Ground::doubt, "Reason for which the plane may not be the ground; empty if there is none.");
  nb::class_<Obstacle>(m, "Obstacle",
                       "A connected region of pixels above the ground. Lengths are in the unit of the rig.")
      .def_ro("distance", &Obstacle::distance, "Depth Z than which a twentieth of the pixels are nearer.")
      .def_ro("point", &Obstacle::point,
              "(x, y, z) of a pixel at this distance, in the optical frame of the left camera.")
      .def_ro("height", &Obstacle::height, "Height of the highest pixel above the ground.")
      .def_ro("area", &Obstacle::area, "Area that the obstacle covers in the view, in the square of the unit.")
      .def_prop_ro(
          "box", [](const Obstacle& o) { return std::tuple(o.box.x, o.box.y, o.box.width, o.box.height); },
          "(x, y, width, height) of the bounding box, in pixels.")
      .def_ro("pixels", &Obstacle::pixels, "Number of pixels.")
      .def_ro("confidence", &Obstacle::confidence, "Mean confidence of the pixels; 1 without confidences.")
      .def("__repr__", &text_of_obstacle);
  nb::class_<Found>(m, "Obstacles", "The obstacles of a depth map.")
      .def_ro("list", &Found::list, "The obstacles, the nearest one first.")
      .def_ro("labels", &Found::labels, nb::sig("def labels(self) -> numpy.typing.NDArray[numpy.uint16]"),
              "(h, w) uint16: 1 + the index in `list` for the pixels of obstacles, else 0.")
      .def_ro("height", &Found::height, nb::sig("def height(self) -> numpy.typing.NDArray[numpy.float32]"),
              "(h, w) float32: height above the ground, in the unit of the rig; NaN where the depth is invalid.")
      .def_ro("ground", &Found::ground, "The plane from which heights are measured.");
  m.def("find_obstacles", &find, "depth"_a.none(), "rig"_a, "nearer_than"_a = nb::none(), "confidence"_a = nb::none(),
        "min_confidence"_a = 0.5, "lowest"_a = nb::none(), "highest"_a = nb::none(), "min_area"_a = nb::none(),
        "disparity_error"_a = 1.0, "ground"_a = nb::none(),
        nb::sig("def find_obstacles(depth: object, rig: Rig, nearer_than: float | None = None, confidence: object | "
                "None = None, min_confidence: float = 0.5, lowest: float | None = None, highest: float | None = None, "
                "min_area: float | None = None, disparity_error: float = 1.0, ground: Ground | None = None) -> "
                "Obstacles"),
        "Finds obstacles, for st.obstacles().");
  m.def(
      "fit_ground", &fit, "depth"_a.none(), "rig"_a, "confidence"_a = nb::none(), "min_confidence"_a = 0.5,
      nb::sig("def fit_ground(depth: object, rig: Rig, confidence: object | None = None, min_confidence: float = "
              "0.5) -> Ground | None"),
      "Fits the ground to a depth map of the rectified left view, (h, w) float32.\n\n"
      "The plane is below the camera, its normal is within 40° of the y axis, and most measured pixels in the lower\n"
      "half are within 1 px of it. Pixels whose `confidence` is below `min_confidence` are not used. Returns None if\n"
      "no plane has a tenth of these pixels. `rig` is the rig of the pair. Raises CallError.");
}

}  // namespace stereopsis::python
