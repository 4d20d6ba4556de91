// Seeds from other sensors and from the frame before.
#include <filesystem>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "core/text.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/seed_files.hpp"
#include "stereopsis/seeds.hpp"
#include "stereopsis/triangulation.hpp"

namespace stereopsis::python {
namespace {

using Matrix = std::vector<std::vector<double>>;  // 3 or 4 rows of 4 numbers
using GivenPoints = nb::ndarray<const float, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Points = std::vector<std::array<float, 3>>;

Pose pose_of(const Matrix& rows) {
  if ((rows.size() != 3 && rows.size() != 4) || rows[0].size() != 4 || rows[1].size() != 4 || rows[2].size() != 4)
    refuse("a pose is a 3×4 or 4×4 matrix, row by row; give one");
  const auto& [a, b, c] = std::tie(rows[0], rows[1], rows[2]);
  return {{a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]}, {a[3], b[3], c[3]}};
}

Matrix matrix_of(const Pose& pose) {
  const auto& [r, t] = pose;
  return {{r[0], r[1], r[2], t[0]}, {r[3], r[4], r[5], t[1]}, {r[6], r[7], r[8], t[2]}, {0, 0, 0, 1}};
}

nb::object seeds_of_array(const GivenPoints& points, const Rig& rig, std::pair<int, int> size,
                          const std::optional<Matrix>& pose) {
  if (size.first < 1 || size.second < 1)
    refuse(text("size=(", size.first, ", ", size.second, ") is not allowed; give the width and the height in pixels"));
  const auto* const first = reinterpret_cast<const std::array<float, 3>*>(points.data());
  return give(
      seeds_of_points({first, points.shape(0)}, pose ? pose_of(*pose) : Pose(), rig, {size.first, size.second}));
}

nb::ndarray<nb::numpy, float, nb::shape<-1, 3>> points_of_file(const std::filesystem::path& file) {
  auto* const points = new Points(read_points(file));
  const nb::capsule owner(points, [](void* kept) noexcept { delete static_cast<Points*>(kept); });
  return {points->data(), {points->size(), 3}, owner};
}

nb::object moved_map(nb::handle disparity, const std::optional<Rig>& rig, const std::optional<Matrix>& motion,
                     nb::handle flow) {
  if (motion.has_value() == !flow.is_none()) refuse("give either the motion of the camera or the flow");
  const BorrowedArray map(disparity, "disparity");
  if (motion) {
    if (!rig) refuse("motion requires the rig of the cameras; pass it");
    return give(moved_disparities(map.disparity(), *rig, pose_of(*motion)));
  }
  const BorrowedArray lent(flow, "flow");
  const AnyImageView vectors = lent.volume();
  if (vectors.type != PixelType::f32) refuse("the flow must have the type float32; convert it with astype");
  return give(moved_disparities(map.disparity(), vectors.as<float>()));
}

}  // namespace

void bind_seeds(nb::module_& m) {
  m.attr("trust_of_frame_before") = trust_of_frame_before;
  m.def(
      "seeds_of_points", &seeds_of_array, "points"_a, "rig"_a, "size"_a, "pose"_a = nb::none(),
      nb::sig("def seeds_of_points(points: numpy.typing.NDArray[numpy.float32], rig: Rig, size: tuple[int, int], pose: "
              "Sequence[Sequence[float]] | None = None) -> numpy.typing.NDArray[numpy.float32]"),
      "Returns seeds, (h, w) float32, NaN where unknown: the disparities at which the rectified left camera sees\n"
      "points of another sensor, (n, 3) float32, in the unit of the rig. `size` is the (width, height) of the images. "
      "`pose`,\n"
      "a 3×4 or 4×4 matrix, moves the points into the frame of the rectified left camera (x right, y down, z\n"
      "forward). Points of surfaces that are hidden from the camera are left out. Raises CallError.");
  m.def(
      "disparity_of_depth",
      [](nb::handle depth, const Rig& rig) {
        const BorrowedArray map(depth, "depth");
        return give(disparity_of_depth(map.disparity(), rig));
      },
      "depth"_a, "rig"_a,
      nb::sig("def disparity_of_depth(depth: object, rig: Rig) -> numpy.typing.NDArray[numpy.float32]"),
      "Returns the disparities of a map of depth, both (h, w) float32, as the rectified left camera sees them. The "
      "depth is\n"
      "in the unit of the rig. Values that are not finite or not above 0 are unknown, and become NaN. Raises "
      "CallError.");
  m.def(
      "moved_disparities", &moved_map, "disparity"_a, nb::kw_only(), "rig"_a = nb::none(), "motion"_a = nb::none(),
      "flow"_a.none() = nb::none(),
      nb::sig("def moved_disparities(disparity: object, *, rig: Rig | None = None, motion: Sequence[Sequence[float]] | "
              "None = None, flow: object = None) -> numpy.typing.NDArray[numpy.float32]"),
      "Returns the disparities of the frame before, (h, w) float32, NaN where invalid, as the present frame sees "
      "them:\n"
      "seeds for the present frame. `motion`, a 3×4 or 4×4 matrix, moves points from the frame of the rectified left\n"
      "camera before to its frame now; it requires the `rig`. `flow`, (h, w, 2) float32, has the columns and rows by\n"
      "which each pixel has moved. One of both must be given. Raises CallError.");
  m.def("read_points", &points_of_file, "file"_a,
        nb::sig("def read_points(file: str | os.PathLike[str]) -> numpy.typing.NDArray[numpy.float32]"),
        "Reads points, (n, 3) float32, from .ply, .pcd or KITTI's .bin. Raises FileError and FormatError.");
  m.def(
      "read_pose", [](const std::filesystem::path& file) { return matrix_of(read_pose(file)); }, "file"_a,
      "Reads the pose of a sensor, 4 rows of 4 numbers, from a text with a 3×4 or 4×4 matrix, or from a calib.txt of\n"
      "KITTI odometry. Raises FileError and FormatError.");
  m.def(
      "read_poses",
      [](const std::filesystem::path& file) {
        std::vector<Matrix> all;
        for (const Pose& pose : read_poses(file)) all.push_back(matrix_of(pose));
        return all;
      },
      "file"_a,
      "Reads the poses of a camera, one line of 12 numbers for each frame, as KITTI has them. Each is 4 rows of 4\n"
      "numbers. Raises FileError and FormatError.");
  m.def(
      "read_flow", [](const std::filesystem::path& file) { return give(read_flow(file)); }, "file"_a,
      nb::sig("def read_flow(file: str | os.PathLike[str]) -> numpy.typing.NDArray[numpy.float32]"),
      "Reads optical flow, (h, w, 2) float32, NaN where unknown, from .flo, KITTI's .png or .npy. Raises FileError "
      "and\n"
      "FormatError.");
}

}  // namespace stereopsis::python
