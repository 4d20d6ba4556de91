// Calibrations that are corrected from ordinary pairs.
#include <variant>

#include "bindings.hpp"
#include "rgb_pair.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/rig_refinement.hpp"
#include "stereopsis/rig_tracking.hpp"

namespace stereopsis::python {
namespace {

using ReadArrays = std::function<std::pair<nb::object, nb::object>(std::size_t)>;

ReadPair reader_of(const ReadArrays& read, Size size) {
  return [&read, size](std::size_t i, const UsePair& use) {
    const auto [left, right] = read(i);
    with_pair(left, right, "rgb", 0, [&](const AnyImageView& l, const AnyImageView& r) {
      for (const AnyImageView& image : {l, r})
        if (image.size() != size)
          throw Error(ErrorCategory::call, "an image of pair " + std::to_string(i) + " has " +
                                               std::to_string(image.width) + "×" + std::to_string(image.height) +
                                               " pixels, but the calibration is for " + std::to_string(size.width) +
                                               "×" + std::to_string(size.height));
      use(l, r);
    });
  };
}

RigRefinement refine(const StereoCalibration& cameras, std::size_t pairs, const ReadArrays& read) {
  return refine_rig(cameras, pairs, reader_of(read, cameras.size));
}

RigRefinement estimate(std::pair<int, int> size, std::optional<double> focal,
                       const std::optional<std::variant<double, std::string>>& baseline, std::size_t pairs,
                       const ReadArrays& read) {
  UnknownCameras known{{size.first, size.second}, focal, {}};
  if (baseline)
    known.baseline = baseline->index() == 0 ? Length{std::get<double>(*baseline), ""}
                                            : parse_length(std::get<std::string>(*baseline));
  return estimate_rig(known, pairs, reader_of(read, known.size));
}

}  // namespace

void bind_refinement(nb::module_& m) {
  nb::class_<RigTerm>(m, "RigTerm", "A parameter of the cameras that scenes correct.")
      .def_ro("name", &RigTerm::name, "Name of the parameter, such as \"pitch\".")
      .def_ro("unit", &RigTerm::unit, "\"°\", \"%\", \"px\" or \"\".")
      .def_ro("correction", &RigTerm::correction, "Difference from the given value, in `unit`.")
      .def_ro("deviation", &RigTerm::deviation, "Standard deviation of the corrected value, in `unit`.")
      .def_ro("is_observed", &RigTerm::is_observed, "False if the scenes hardly show the parameter.");
  nb::class_<RigRefinement>(m, "RigRefinement", "A calibration from scenes. Lengths are in pixels.")
      .def_ro("calibration", &RigRefinement::calibration, "The corrected Calibration.")
      .def_ro("terms", &RigRefinement::terms,
              "A RigTerm for each of pitch, yaw, roll, baseline_down, baseline_forward, focal_ratio, row, k1_left, "
              "k1_right and, "
              "without a calibration, focal.")
      .def_ro("pairs", &RigRefinement::pairs, "Number of pairs with points.")
      .def_ro("points", &RigRefinement::points, "Number of points that were found in both images of a pair.")
      .def_ro("rows_before", &RigRefinement::rows_before, "Median difference of rows with the given calibration.")
      .def_ro("rows_after", &RigRefinement::rows_after, "Median difference of rows with the corrected calibration.")
      .def_ro("rows_deviation", &RigRefinement::rows_deviation, "Standard deviation of the corrected rows.")
      .def_ro("disparity_deviation", &RigRefinement::disparity_deviation,
              "Standard deviation of all disparities together, which the yaw causes.")
      .def_prop_ro("sentence", &RigRefinement::sentence, "The rows before and after, and what was not observed.")
      .def("__repr__", [](const RigRefinement& r) { return "<" + r.sentence() + ">"; });
  m.def("refine_rig", &refine, "cameras"_a, "pairs"_a, "read"_a, "Refines a calibration; read(i) returns both images.");
  m.def("estimate_rig", &estimate, "size"_a, "focal"_a.none(), "baseline"_a.none(), "pairs"_a, "read"_a,
        "Calibrates unknown cameras; read(i) returns both images.");
  m.def(
      "photo_focal",
      [](const std::filesystem::path& file, int width, int height) {
        return photo_focal(file, {width, height});
      },
      "file"_a, "width"_a, "height"_a, "Returns the focal length in pixels that the Exif data states, or None.");
  nb::class_<RigTurn>(m, "RigTurn", "A rotation of the right camera about the axes of its rectified image, in degrees.")
      .def_ro("pitch", &RigTurn::pitch, "About x: rows move.")
      .def_ro("yaw", &RigTurn::yaw, "About y: disparities move.")
      .def_ro("roll", &RigTurn::roll, "About z: rows of opposite borders move apart.");
  nb::class_<RigNews>(m, "RigNews", "An event of a RigTracker.")
      .def_prop_ro(
          "kind", [](const RigNews& n) { return to_string(n.kind); },
          "\"corrected\": a correction follows; \"jumped\": the rows of this pair are not those before; \"lost\", "
          "\"found\": pairs do\nnot show the rig, or show it again; \"unconfirmed\": a yaw would place points behind "
          "infinity.")
      .def_ro("pair", &RigNews::pair, "Number of the pair that shows it, from 0.")
      .def_ro("turn", &RigNews::turn, "Size of the correction, or of the jump.")
      .def_ro("deviation", &RigNews::deviation, "Standard deviations of the angles after the correction.")
      .def_prop_ro("is_warning", &RigNews::is_warning, "True for \"jumped\" and \"lost\".")
      .def_prop_ro("sentence", &RigNews::sentence, "One sentence.")
      .def("__repr__", [](const RigNews& n) { return "<" + n.sentence() + ">"; });
  nb::class_<RigTracker>(m, "RigTracker", "Follows the right camera of a rig.")
      .def(nb::init<const StereoCalibration&>(), "cameras"_a)
      .def(
          "maps_for",
          [](RigTracker& tracker, std::size_t pair) {
            return std::const_pointer_cast<RectificationMaps>(tracker.maps_for(pair));
          },
          "pair"_a, nb::call_guard<nb::gil_scoped_release>(), "Returns the Rectification of a pair.")
      .def("add", &RigTracker::add, "pair"_a, "rows"_a.none(), "Notes the RowMeasurement of a pair, or None.")
      .def("news", &RigTracker::news, "Returns the RigNews since the last call.")
      .def_prop_ro("pairs", &RigTracker::pairs, "Number of pairs.")
      .def_prop_ro("turn", &RigTracker::turn, "RigTurn since the start.")
      .def_prop_ro("calibration", &RigTracker::calibration, "The corrected Calibration.")
      .def_ro_static("one_of", &RigTracker::one_of, "The rows of one of so many pairs are sufficient.");
  m.def("cameras_of", &cameras_of, "rig"_a, "Returns the Calibration of rectified images.");
}

}  // namespace stereopsis::python
