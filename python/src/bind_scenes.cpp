#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/formats.hpp"
#include "stereopsis/render.hpp"
#include "stereopsis/synth.hpp"

using namespace nanobind::literals;

namespace stereopsis::python {
namespace {

constexpr std::array numbers = {
    std::pair{"gain", &SceneOptions::gain},
    std::pair{"gamma", &SceneOptions::gamma},
    std::pair{"vignetting", &SceneOptions::vignetting},
    std::pair{"noise", &SceneOptions::noise},
    std::pair{"light", &SceneOptions::light},
    std::pair{"shot_noise", &SceneOptions::shot_noise},
    std::pair{"defocus", &SceneOptions::defocus},
    std::pair{"focus", &SceneOptions::focus},
    std::pair{"motion", &SceneOptions::motion},
    std::pair{"blur_left", &SceneOptions::blur_left},
    std::pair{"blur_right", &SceneOptions::blur_right},
    std::pair{"sharpening", &SceneOptions::sharpening},
    std::pair{"vertical_offset", &SceneOptions::vertical_offset},
    std::pair{"vertical_slope", &SceneOptions::vertical_slope},
};

void set(SceneOptions& options, const std::string& name, double value) {
  std::string all;
  for (const auto& [known, member] : numbers) {
    if (name == known) {
      options.*member = value;
      return;
    }
    all += std::string(all.empty() ? "" : ", ") + known;
  }
  throw Error(ErrorCategory::call, "a scene has no option '" + name + "'; it has " + all);
}

nb::dict synth(const std::string& scene, int width, int height, int disparities, std::uint64_t seed,
               const std::map<std::string, double>& options) {
  SceneOptions all{.scene = scene, .size = {width, height}, .disparities = disparities, .seed = seed};
  for (const auto& [name, value] : options) set(all, name, value);
  const auto made = [&] {
    const nb::gil_scoped_release release;
    return std::make_shared<Scene>(make_scene(all));
  }();
  nb::dict arrays;
  arrays["left"] = lend(made->left, made);
  arrays["right"] = lend(made->right, made);
  arrays["disparity"] = lend(made->disparity_left, made);
  arrays["disparity_right"] = lend(made->disparity_right, made);
  arrays["nonocc"] = lend(made->nonocc_left, made);
  arrays["nonocc_right"] = lend(made->nonocc_right, made);
  arrays["disc"] = lend(made->disc_left, made);
  return arrays;
}

std::pair<int, int> ends(DisparityRange range) { return {range.min, range.min + range.count}; }

// Calls f(left, right) with grey or RGB images.
template <class F>
auto with_rgb(const StereoPair& pair, F&& f) {
  if (!pair.format) return f(pair.left, pair.right);
  AnyImage left_rgb, right_rgb;
  to_rgb(pair.left, *pair.format, left_rgb);
  to_rgb(pair.right, *pair.format, right_rgb);
  return f(left_rgb.view(), right_rgb.view());
}

template <class F>
auto with_pair(nb::handle left, nb::handle right, const std::string& colour, int bit_depth, F&& f) {
  const BorrowedPair lent(left, right, nb::none(), nb::none(), nb::none(), bit_depth, colour, nb::none());
  if (lent.is_on_device()) refuse("left and right are on a GPU; copy them to the host first, as NumPy arrays");
  const nb::gil_scoped_release release;
  return with_rgb(lent.pair, f);
}

nb::dict measures_of(const Measures& m) {
  nb::dict d;
  const std::pair<const char*, double> all[] = {{"bad0.5", m.bad05},  {"bad1.0", m.bad10}, {"bad2.0", m.bad20},
                                                {"bad4.0", m.bad40},  {"d1", m.d1},        {"out3", m.out3},
                                                {"avgerr", m.avgerr}, {"rms", m.rms},      {"a90", m.a90},
                                                {"a95", m.a95},       {"a99", m.a99},      {"density", m.density}};
  for (const auto& [name, value] : all) d[name] = value;
  return d;
}

// Calls f(disparity, truth, mask) without the GIL.
template <class F>
auto with_maps(nb::handle disparity_, nb::handle truth_, nb::handle mask_, F&& f) {
  const BorrowedArray disparity(disparity_, "disparity"), truth(truth_, "truth"),
      mask = mask_.is_none() ? BorrowedArray() : BorrowedArray(mask_, "mask");
  for (const BorrowedArray* lent : {&disparity, &truth, &mask})
    if (!lent->device().empty()) refuse(lent->name() + " is on a GPU; copy it to the host first, as a NumPy array");
  const auto views = std::tuple(disparity.disparity(), truth.disparity(), mask.mask());
  const nb::gil_scoped_release release;
  return std::apply(f, views);
}

nb::dict evaluate_arrays(nb::handle disparity, nb::handle truth, nb::handle mask) {
  const Evaluation found = with_maps(disparity, truth, mask, evaluate);
  nb::dict d = measures_of(found.all);
  d["valid"] = measures_of(found.valid);
  return d;
}

nb::tuple mismatch_of(nb::handle disparity, nb::handle truth, nb::handle mask) {
  const Mismatch found = with_maps(disparity, truth, mask,
                                   [](const auto& d, const auto& t, const auto& m) { return find_mismatch(d, t, m); });
  return nb::make_tuple(found.factor, found.upside_down, found.reversed_bytes, found.zeros_unknown);
}

std::string turn_of(const PairReport& report) {
  constexpr std::array names = {"none", "half", "rows_reversed", "mirrored"};
  return names[static_cast<std::size_t>(report.turn)];
}

std::string shown(const PairReport& report) {
  const auto [first, end] = ends(report.range);
  std::string text = std::string("<pair: ") + (report.rectified() ? "rectified" : "not rectified");
  for (const auto& [is_so, remark] : {std::pair{report.swapped, "swapped"},
                                      {report.same_image, "the same image twice"},
                                      {report.same_view, "the same view twice"},
                                      {report.vertical, "one camera above the other"},
                                      {report.unrelated, "not one scene"},
                                      {report.turn != Turn::none, "one image turned"}})
    if (is_so) text += std::string(", ") + remark;
  return text + ", disparities " + std::to_string(first) + " to " + std::to_string(end - 1) + ">";
}

}  // namespace

std::optional<PairReport> quick_report(const StereoPair& pair, const RectificationMaps* maps) {
  const auto check = [](const AnyImageView& left, const AnyImageView& right) {
    return check_pair(left, right, CheckEffort::quick);
  };
  const nb::gil_scoped_release release;
  try {
    if (!maps) return with_rgb(pair, check);
    return with_rgb(pair, [&](const AnyImageView& left, const AnyImageView& right) {
      return check(rectified(left, maps->left).image.view(), rectified(right, maps->right).image.view());
    });
  } catch (const Error& error) {
    if (error.category() != ErrorCategory::call) throw;
    return {};
  }
}

void bind_scenes(nb::module_& m) {
  nb::class_<PairReport>(m, "PairReport",
                         "The result of check(): whether a pair is suitable for matching, and why not.")
      .def_ro("matches", &PairReport::matches,
              "Number of sparse matches from which the other values are computed; 0 if there are too few.")
      .def_ro("median_dy", &PairReport::median_dy, "Median of |y_left − y_right|, in pixels.")
      .def_ro("p95_dy", &PairReport::p95_dy, "95th percentile of |y_left − y_right|, in pixels.")
      .def_ro("median_disparity", &PairReport::median_disparity, "Median of the disparities, in pixels.")
      .def_ro(
          "swapped", &PairReport::swapped,
          "True if nearly all disparities are negative: the images are in the wrong order, or the cameras converge.")
      .def_ro("same_image", &PairReport::same_image, "True if both images have the same pixels.")
      .def_ro("same_view", &PairReport::same_view,
              "True if nearly all disparities are 0: both images show the scene from one place.")
      .def_ro("vertical", &PairReport::vertical,
              "True if one camera is above the other; `swapped` if `left` is the image of the lower one.")
      .def_ro("unrelated", &PairReport::unrelated,
              "True if the images have texture, but no point of one was found in the other.")
      .def_prop_ro(
          "turn", &turn_of,
          "Turn of one image against the other: \"none\", \"half\" (by 180°), \"rows_reversed\" or \"mirrored\".")
      .def_prop_ro(
          "disparities", [](const PairReport& c) { return ends(c.range); }, "Estimated search range: (first, end).")
      .def_prop_ro("rectified", &PairReport::rectified, "True if rows correspond: median_dy is at most 1 pixel.")
      .def("__repr__", &shown);
  m.def(
      "check",
      [](nb::handle left, nb::handle right, const std::string& colour, int bit_depth) {
        return with_pair(left, right, colour, bit_depth,
                         [](const AnyImageView& l, const AnyImageView& r) { return check_pair(l, r); });
      },
      "left"_a, "right"_a, "colour"_a = "rgb", "bit_depth"_a = 0,
      nb::sig("def check(left: object, right: object, colour: str = 'rgb', bit_depth: int = 0) -> PairReport"));
  m.def(
      "estimate_disparities",
      [](nb::handle left, nb::handle right, const std::string& colour, int bit_depth) {
        return ends(with_pair(left, right, colour, bit_depth, estimate_range));
      },
      "left"_a, "right"_a, "colour"_a = "rgb", "bit_depth"_a = 0,
      nb::sig("def estimate_disparities(left: object, right: object, colour: str = 'rgb', bit_depth: int = 0) -> "
              "tuple[int, int]"));
  m.def("evaluate", &evaluate_arrays, "disparity"_a, "truth"_a, "mask"_a.none(),
        nb::sig("def evaluate(disparity: object, truth: object, mask: object | None) -> dict[str, Any]"));
  m.def(
      "find_mismatch", &mismatch_of, "disparity"_a, "truth"_a, "mask"_a.none(),
      nb::sig("def find_mismatch(disparity: object, truth: object, mask: object | None) -> tuple[float, bool, bool, "
              "bool]"),
      "Returns why the maps differ nearly everywhere: truth / disparity, and whether the rows of the truth are upside\n"
      "down, its bytes reversed, and its zeros unknown.");
  m.def(
      "colour_disparity",
      [](nb::handle array, double low, double high, bool legend) {
        const BorrowedArray lent(array, "disparity");
        return give(colour_disparity(lent.disparity(), low, high, legend));
      },
      "disparity"_a, "low"_a, "high"_a, "legend"_a,
      nb::sig("def colour_disparity(disparity: object, low: float, high: float, legend: bool) -> "
              "numpy.typing.NDArray[numpy.uint8]"));
  m.def(
      "display_limits", [](nb::handle array) { return display_limits(BorrowedArray(array, "disparity").disparity()); },
      "disparity"_a, nb::sig("def display_limits(disparity: object) -> tuple[float, float]"));
  m.def(
      "colour_validity",
      [](nb::handle array, bool legend) {
        const BorrowedArray lent(array, "validity");
        return give(colour_validity(lent.validity(), legend));
      },
      "validity"_a, "legend"_a,
      nb::sig("def colour_validity(validity: object, legend: bool) -> numpy.typing.NDArray[numpy.uint8]"));
  m.def("scene_names", &scene_names, "Returns the names of the scenes that synth() generates.");
  m.def("synth", &synth, "scene"_a, "width"_a, "height"_a, "disparities"_a, "seed"_a, "options"_a);
}

}  // namespace stereopsis::python
