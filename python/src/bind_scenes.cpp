#include <array>
#include <cstddef>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "rgb_pair.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/render.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::python {
namespace {

constexpr std::array numbers = {
    std::pair{"focal_length", &SceneOptions::focal_length},
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
    std::pair{"vertical_wave", &SceneOptions::vertical_wave},
    std::pair{"vertical_period", &SceneOptions::vertical_period},
    std::pair{"vertical_period_x", &SceneOptions::vertical_period_x},
    std::pair{"vertical_jitter", &SceneOptions::vertical_jitter},
    std::pair{"exposure", &SceneOptions::exposure},
    std::pair{"tone", &SceneOptions::tone},
    std::pair{"flare", &SceneOptions::flare},
    std::pair{"demosaicing", &SceneOptions::demosaicing},
    std::pair{"jpeg", &SceneOptions::jpeg},
    std::pair{"resampling", &SceneOptions::resampling},
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

// Generates a scene of the mixture `like`, or the given scene.
nb::dict synth(const std::string& scene, int width, int height, int disparities, std::uint64_t seed,
               const std::map<std::string, double>& options, const std::optional<std::string>& like) {
  SceneOptions all{.scene = scene, .size = {width, height}, .disparities = disparities, .seed = seed};
  if (like) all = random_scene(all.size, all.size, disparities, seed, *like);
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
  const BorrowedArray disparity = host_array(disparity_, "disparity"), truth = host_array(truth_, "truth"),
                      mask = mask_.is_none() ? BorrowedArray() : host_array(mask_, "mask");
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
  return nb::make_tuple(found.factor, found.upside_down, found.reversed_bytes, found.zeros_unknown, found.product);
}

std::string turn_of(const PairReport& report) {
  constexpr std::array names = {"none", "half", "rows_reversed", "mirrored"};
  return names[static_cast<std::size_t>(report.turn)];
}

std::string shown(const PairReport& report) {
  const auto [first, end] = ends(report.range);
  if (!report.judged()) return "<pair: " + why_not_judged(report) + ">";
  std::string text = std::string("<pair: ") + (report.rectified() ? "rectified" : "not rectified");
  for (const auto& [is_so, remark] : {std::pair{report.swapped, "swapped"},
                                      {report.same_image, "the same image twice"},
                                      {report.same_view, "the same view twice"},
                                      {report.vertical, "one camera above the other"},
                                      {report.unrelated, "not one scene"},
                                      {report.turn != Turn::none, "one image turned"},
                                      {report.shared_pattern, "the same pattern in both images"}})
    if (is_so) text += std::string(", ") + remark;
  return text + ", disparities " + std::to_string(first) + " to " + std::to_string(end - 1) + ">";
}

}  // namespace

void bind_scenes(nb::module_& m) {
  nb::class_<PairReport>(m, "PairReport",
                         "The result of check(): whether a pair is suitable for matching, and why not.")
      .def_ro("matches", &PairReport::matches,
              "Number of sparse matches from which the other values are computed; 0 if there are too few.")
      .def_ro("median_dy", &PairReport::median_dy, "Median of |y_left − y_right|, in pixels.")
      .def_ro("p95_dy", &PairReport::p95_dy, "95th percentile of |y_left − y_right|, in pixels.")
      .def_ro("median_disparity", &PairReport::median_disparity, "Median of the disparities, in pixels.")
      .def_prop_ro(
          "rows_apart", [](const PairReport& r) { return r.rows.most_apart; },
          "Largest |y_left − y_right| of a plane that is fitted to the matches, which is in a corner, in pixels.")
      .def_prop_ro(
          "row_offset", [](const PairReport& r) { return r.rows.offset; },
          "y_left − y_right in the centre of the image, in pixels.")
      .def_prop_ro(
          "row_roll", [](const PairReport& r) { return r.rows.roll; },
          "y_left − y_right at the right border minus that at the left border, in pixels.")
      .def_prop_ro(
          "row_zoom", [](const PairReport& r) { return r.rows.zoom; },
          "y_left − y_right at the lower border minus that at the upper border, in pixels.")
      .def_prop_ro(
          "judged", &PairReport::judged,
          "True if the pair is suitable or has a fault; False if the images are too small (below 160×120 pixels) "
          "or have\n"
          "too little texture.")
      .def_ro("shared_pattern", &PairReport::shared_pattern,
              "True if both images have the same pattern at the same place, such as fixed noise of the sensor.")
      .def_ro("swapped", &PairReport::swapped,
              "True if at least 90 % of the disparities other than 0 are negative, and at most 75 % of all are 0: the "
              "images are in the wrong order, or the cameras converge.")
      .def_ro("same_image", &PairReport::same_image, "True if both images have the same pixels.")
      .def_ro("same_view", &PairReport::same_view,
              "True if nearly all disparities are 0: both images show the scene from one place.")
      .def_ro(
          "vertical", &PairReport::vertical,
          "True if one camera is above the other. In this case, `swapped` is True if `left` is the image of the lower\n"
          "camera.")
      .def_ro("unrelated", &PairReport::unrelated,
              "True if the images have texture, but no point of one image was found in the other.")
      .def_prop_ro("turn", &turn_of,
                   "Rotation or reflection of one image relative to the other: \"none\", \"half\" (by 180°), "
                   "\"rows_reversed\" or\n"
                   "\"mirrored\".")
      .def_prop_ro(
          "disparities", [](const PairReport& c) { return ends(c.range); }, "Estimated search range: (first, end).")
      .def_prop_ro("rectified", &PairReport::rectified,
                   "True if rows correspond: median_dy is at most 1 pixel, and rows_apart at most a thousandth of the "
                   "diagonal (1 to\n"
                   "1.5 pixels).")
      .def("__repr__", &shown);
  nb::class_<PairFault>(m, "PairFault")
      .def_prop_ro("kind", [](const PairFault& f) { return to_string(f.kind); })
      .def_ro("sentence", &PairFault::sentence)
      .def_ro("swapped", &PairFault::swapped);
  nb::class_<PairJudge>(m, "PairJudge", "Decides which pairs of a sequence are checked, and counts the faults.")
      .def(nb::init<>())
      .def("checks", &PairJudge::checks, "number"_a, "measured"_a,
           "Returns whether a pair is to be checked of which this share, 0 to 1, was measured.")
      .def("record_sound", &PairJudge::record_sound, "measured"_a)
      .def(
          "record",
          [](PairJudge& judge, const PairFault& fault, std::size_t number) {
            return !judge.record({fault}, number).empty();
          },
          "fault"_a, "number"_a, "Returns whether no earlier pair has a fault of this kind.");
  m.def(
      "check",
      [](nb::handle left, nb::handle right, const std::string& colour, int bit_depth) {
        return with_pair(left, right, colour, bit_depth,
                         [](const AnyImageView& l, const AnyImageView& r) { return check_pair(l, r); });
      },
      "left"_a.none(), "right"_a.none(), "color"_a = "rgb", "bit_depth"_a = 0,
      nb::sig("def check(left: object, right: object, color: str = 'rgb', bit_depth: int = 0) -> PairReport"));
  m.def(
      "estimate_disparities",
      [](nb::handle left, nb::handle right, const std::string& colour, int bit_depth) {
        return ends(with_pair(left, right, colour, bit_depth, estimate_range));
      },
      "left"_a.none(), "right"_a.none(), "color"_a = "rgb", "bit_depth"_a = 0,
      nb::sig("def estimate_disparities(left: object, right: object, color: str = 'rgb', bit_depth: int = 0) -> "
              "tuple[int, int]"));
  m.def("evaluate", &evaluate_arrays, "disparity"_a.none(), "truth"_a.none(), "mask"_a.none(),
        nb::sig("def evaluate(disparity: object, truth: object, mask: object | None) -> dict[str, Any]"));
  m.def(
      "find_mismatch", &mismatch_of, "disparity"_a.none(), "truth"_a.none(), "mask"_a.none(),
      nb::sig("def find_mismatch(disparity: object, truth: object, mask: object | None) -> tuple[float, bool, bool, "
              "bool, float]"),
      "Returns the likely cause if the maps differ nearly everywhere. The cause has the ratio truth / disparity, and\n"
      "states whether the truth is upside down, has reversed bytes, or contains 0 for unknown disparities. The last\n"
      "value is truth × disparity if one of the maps is a depth map, else 0.");
  m.def("color_maps", &color_map_names, "Returns the names of the colour maps; the first is the default.");
  m.def(
      "color_map",
      [](const std::string& name) {
        const ColorMap& map = color_map(name);
        Image<std::uint8_t> colors(Size{3, static_cast<int>(map.size())});
        for (int i = 0; i < colors.height(); ++i)
          for (int c = 0; c < 3; ++c)
            colors(c, i) = static_cast<std::uint8_t>(map[static_cast<std::size_t>(i)] >> 8 * (2 - c));
        return give(std::move(colors));
      },
      "name"_a, nb::sig("def color_map(name: str) -> numpy.typing.NDArray[numpy.uint8]"),
      "Returns the colours of the map `name` of color_maps(), (256, 3) uint8, from low values to high ones. The maps\n"
      "'difference' and 'error' draw differences around 0 and errors. Raises CallError for another name.");
  m.def(
      "color_values",
      [](nb::handle array, double low, double high, bool legend, const std::string& map, const std::string& unit,
         bool near_is_low, nb::handle validity) {
        const BorrowedArray lent(array, "values");
        const BorrowedArray states = validity.is_none() ? BorrowedArray() : BorrowedArray(validity, "validity");
        Coloring coloring{
            .low = low, .high = high, .map = map, .legend = legend, .unit = unit, .near_is_low = near_is_low};
        if (states.given()) coloring.validity = states.validity();
        return give(colour_values(lent.disparity(), coloring));
      },
      "values"_a, "low"_a, "high"_a, "legend"_a, "map"_a = "", "unit"_a = "px", "near_is_low"_a = false,
      "validity"_a.none() = nb::none(),
      nb::sig(
          "def color_values(values: object, low: float, high: float, legend: bool, map: str = '', unit: str = 'px', "
          "near_is_low: bool = False, validity: object | None = None) -> numpy.typing.NDArray[numpy.uint8]"));
  m.def(
      "display_limits",
      [](nb::handle array, double least) { return display_limits(BorrowedArray(array, "values").disparity(), least); },
      "values"_a, "least"_a = 1.0,
      nb::sig("def display_limits(values: object, least: float = 1.0) -> tuple[float, float]"));
  m.def(
      "colour_validity",
      [](nb::handle array, bool legend) {
        const BorrowedArray lent(array, "validity");
        return give(colour_validity(lent.validity(), legend));
      },
      "validity"_a, "legend"_a,
      nb::sig("def colour_validity(validity: object, legend: bool) -> numpy.typing.NDArray[numpy.uint8]"));
  m.def("scene_names", &scene_names, "Returns the names of the scenes that synth() generates.");
  m.def("synth", &synth, "scene"_a, "width"_a, "height"_a, "disparities"_a, "seed"_a, "options"_a, "like"_a.none());
}

}  // namespace stereopsis::python
