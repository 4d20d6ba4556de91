// The alignment of rows.

#include <tuple>

#include "bindings.hpp"
#include "core/refuse.hpp"
#include "jobs/rows.hpp"
#include "rgb_pair.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis::python {
namespace {

using FieldValues = std::vector<std::vector<float>>;  // the coefficients of each row
using RowValues = std::tuple<double, double, double, double, FieldValues>;
using EstimateValues = std::tuple<bool, int, RowValues, RowValues, int, double>;

FieldValues rows_of(const RowField& field) {
  FieldValues rows;
  for (int row = 0; row < field.rows; ++row) {
    const float* first = field.knots.data() + row * field.columns;
    rows.emplace_back(first, first + field.columns);
  }
  return rows;
}

RowField field_of(const FieldValues& rows) {
  RowField field;
  if (rows.empty()) return field;
  field.rows = static_cast<int>(std::min<std::size_t>(rows.size(), RowField::most_knots + 1));
  field.columns = static_cast<int>(std::min<std::size_t>(rows[0].size(), RowField::most_knots + 1));
  for (const std::vector<float>& row : rows)
    if (row.size() != rows[0].size())
      refuse("the rows of a field differ in length; all must have as many knots as the first one");
  check_alignment({.field = field});  // the number of knots
  float* to = field.knots.data();
  for (const std::vector<float>& row : rows) to = std::copy(row.begin(), row.end(), to);
  return field;
}

RowValues values_of(const RowAlignment& a) { return {a.offset, a.roll, a.zoom, a.keystone, rows_of(a.field)}; }
RowAlignment alignment_of(const RowValues& v) {
  const auto& [offset, roll, zoom, keystone, field] = v;
  return {offset, roll, zoom, keystone, field_of(field)};
}

RowEstimate given_rows(const RowAlignment& a) { return {.alignment = a, .reason = NoAlignment::none, .plane = a}; }

// The spelling of the setting for the functions and subcommands of Python.
struct RowNames : jobs::SettingNames {
  explicit RowNames(std::string name_) : name(std::move(name_)) {}
  std::string spelled(std::string_view) const override { return name; }
  std::string name;
};

std::string text_of_rows(const RowAlignment& a) { return "<" + given_rows(a).sentence() + ">"; }

// Returns a right image with aligned rows and its mask, or a part (x, y, width, height) of an image of the size `whole`.
nb::tuple align(nb::handle image, const RowAlignment& alignment, nb::handle mask, int bit_depth,
                const std::optional<std::tuple<int, int, int, int>>& part, std::pair<int, int> whole) {
  const BorrowedArray pixels = host_array(image, "right"),
                      usable = mask.is_none() ? BorrowedArray() : BorrowedArray(mask, "mask");
  const AnyImageView view = pixels.image(bit_depth);
  const auto masked = mask.is_none() ? ImageView<const std::uint8_t>() : usable.mask();
  const RectifiedView aligned = [&] {
    const nb::gil_scoped_release release;
    if (!part) return with_aligned_rows(view, alignment, masked);
    const auto& [x, y, width, height] = *part;
    return with_aligned_rows(view, alignment, Rect{x, y, width, height}, {whole.first, whole.second}, masked);
  }();
  return nb::make_tuple(give(aligned.image), give(aligned.usable));
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<RowAlignment>(
      m, "RowAlignment", nb::type_slots(checked_constructor),
      "An alignment of the rows of the right image, for `align_rows=` of match(), Matcher and Run.\n\n"
      "Row y of the aligned image is row y + v of the given one, with v = offset + roll · s + zoom · t + keystone · s "
      "· "
      "t + field(s, t),\n"
      "s = (x + ½) / width − ½ and t = (y + ½) / height − ½. All values are in pixels.")
      .def(
          "__init__",
          [](RowAlignment* a, double offset, double roll, double zoom, double keystone, const FieldValues& field) {
            new (a) RowAlignment(alignment_of({offset, roll, zoom, keystone, field}));
          },
          "offset"_a = 0, "roll"_a = 0, "zoom"_a = 0, "keystone"_a = 0, "field"_a = FieldValues())
      .def_ro("offset", &RowAlignment::offset, "v in the centre of the image, in pixels.")
      .def_ro("roll", &RowAlignment::roll, "v at the right border minus v at the left border, in pixels.")
      .def_ro("zoom", &RowAlignment::zoom, "v at the lower border minus v at the upper border, in pixels.")
      .def_ro("keystone", &RowAlignment::keystone,
              "roll at the lower border minus roll at the upper border, in pixels.")
      .def_prop_ro(
          "field", [](const RowAlignment& a) { return rows_of(a.field); },
          "Rows of the coefficients of a uniform cubic B-spline over the image, for rows that no plane follows; [] for "
          "most\npairs.")
      .def("at", nb::overload_cast<double, double>(&RowAlignment::at, nb::const_), "s"_a, "t"_a,
           "Returns v at a position of the image, from −½ to ½ along each side.")
      .def("scaled", &RowAlignment::scaled, "factor"_a,
           "Returns the alignment with all values `factor` times as large.")
      .def_prop_ro("rms", &RowAlignment::rms, "Root mean square of v over the image, in pixels.")
      .def(
          "__eq__",
          [](const RowAlignment& a, nb::handle other) {
            RowAlignment b;
            return nb::try_cast(other, b) && a == b;
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__repr__", &text_of_rows)
      .def("__getstate__", &values_of)
      .def("__setstate__", [](RowAlignment& a, const RowValues& v) { new (&a) RowAlignment(alignment_of(v)); });
  nb::class_<RowEstimate>(m, "RowEstimate", "The result of estimate_row_alignment().")
      .def_ro("alignment", &RowEstimate::alignment,
              "The RowAlignment with which the pair should be matched; None if `reason` states why there is none.")
      .def_prop_ro(
          "reason", [](const RowEstimate& e) { return to_string(e.reason); },
          "\"few_tracks\": fewer than 100 points were found in both images; \"uncertain\": the standard "
          "deviation is above\n"
          "0.05 pixels; \"one_corner\": the points lie in one part of the image; \"rows_agree\": the rows differ "
          "by less than\n"
          "0.08 pixels; \"\" if there is an alignment.")
      .def_ro("plane", &RowEstimate::plane, "The fitted RowAlignment, even if it should not be applied.")
      .def_ro("deviation", &RowEstimate::deviation, "Standard deviation of each value, in pixels.")
      .def_ro("tracks", &RowEstimate::tracks, "Number of points to which the alignment is fitted.")
      .def_ro("remaining", &RowEstimate::remaining,
              "Robust standard deviation of the points around the alignment, in pixels.")
      .def_ro_static("most_deviation", &RowEstimate::most_deviation,
                     "Largest standard deviation of an alignment, in pixels.")
      .def_prop_ro("sentence", &RowEstimate::sentence, "One sentence: the alignment, or the reason why there is none.")
      .def("__repr__", [](const RowEstimate& e) { return "<" + e.sentence() + ">"; })
      .def("__getstate__",
           [](const RowEstimate& e) {
             return EstimateValues(e.alignment.has_value(), static_cast<int>(e.reason), values_of(e.plane),
                                   values_of(e.deviation), e.tracks, e.remaining);
           })
      .def("__setstate__", [](RowEstimate& e, const EstimateValues& v) {
        const auto& [is_aligned, reason, plane, deviation, tracks, remaining] = v;
        new (&e) RowEstimate{.reason = static_cast<NoAlignment>(reason),
                             .plane = alignment_of(plane),
                             .deviation = alignment_of(deviation),
                             .tracks = tracks,
                             .remaining = remaining};
        if (is_aligned) e.alignment = e.plane;
      });
  nb::class_<ShutterDelay>(
      m, "ShutterDelay",
      "The shutters of the cameras are out of step: the offset of the rows follows the vertical motion of the images.")
      .def_ro("pairs", &ShutterDelay::pairs,
              "Time by which the right image was taken later, in times between two pairs; negative: earlier.")
      .def_ro("correlation", &ShutterDelay::correlation, "Correlation of the offset with the motion, -1 to 1.")
      .def_ro("count", &ShutterDelay::count, "Number of pairs.")
      .def_prop_ro("sentence", &ShutterDelay::sentence, "One sentence that says so, and what to do.")
      .def("__repr__", [](const ShutterDelay& s) { return "<" + s.sentence() + ">"; });
  nb::class_<RowMeasurement>(m, "RowMeasurement", "The rows of one pair of a sequence, for RowFilter.");
  nb::class_<RowFilter>(m, "RowFilter", "Estimates the alignments of a sequence of pairs of the same cameras.")
      .def(nb::init<>())
      .def("next", &RowFilter::next, "rows"_a, "Returns the RowEstimate of the next pair.")
      .def_prop_ro("shutters", &RowFilter::shutters, "ShutterDelay of the pairs so far, or None.");
  m.def("align_rows", &align, "image"_a, "alignment"_a, "mask"_a.none(), "bit_depth"_a, "part"_a.none(), "whole"_a,
        nb::sig("def align_rows(image: object, alignment: RowAlignment, mask: object | None, bit_depth: int, part: "
                "tuple[int, int, int, int] | None, whole: tuple[int, int]) -> tuple[numpy.ndarray, numpy.ndarray]"),
        "Returns a right image with aligned rows, and its mask.");
  m.def(
      "rows_for",
      [](const std::tuple<int, int, int, int>& part, std::pair<int, int> whole) {
        const auto& [x, y, width, height] = part;
        const Rect rows = RowAlignment::rows_for({x, y, width, height}, {whole.first, whole.second});
        return std::make_tuple(rows.x, rows.y, rows.width, rows.height);
      },
      "part"_a, "whole"_a, "Returns the part of a given image from which a part of the aligned image is interpolated.");
  m.def("given_rows", &given_rows, "alignment"_a, "Returns the RowEstimate that stands for a given alignment.");
  m.def(
      "row_settings",
      [](const std::string& given, const std::string& name) {
        const jobs::RowSettings settings = jobs::row_settings(given, RowNames(name));
        return std::make_tuple(settings.is_off, settings.fixed);
      },
      "given"_a, "name"_a, "Returns whether rows stay as they are, and the alignment of all pairs or None.");
  m.def(
      "estimate_row_alignment",
      [](nb::handle left, nb::handle right, const std::string& colour, int bit_depth) {
        return with_pair(left, right, colour, bit_depth, estimate_row_alignment);
      },
      "left"_a.none(), "right"_a.none(), "color"_a = "rgb", "bit_depth"_a = 0,
      nb::sig("def estimate_row_alignment(left: object, right: object, color: str = 'rgb', bit_depth: int = 0) -> "
              "RowEstimate"));
}

}  // namespace stereopsis::python
