// The alignment of rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"
#include "rgb_pair.hpp"
#include "stereopsis/rows.hpp"

using namespace nanobind::literals;

namespace stereopsis::python {
namespace {

using RowValues = std::tuple<double, double, double, double>;

std::string text_of_rows(const RowAlignment& a) {
  RowEstimate e;
  e.plane = a;
  e.reason = NoAlignment::none;
  return "<" + e.sentence() + ">";
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<RowAlignment>(
      m, "RowAlignment", nb::type_slots(checked_constructor),
      "An alignment of the rows of the right image, for `row_alignment=` of match() and Matcher.\n\n"
      "Row y of the aligned image is row y + v of the given one, with v = offset + roll · s + zoom · t + keystone · s "
      "· "
      "t,\n"
      "s = (x + ½) / width − ½ and t = (y + ½) / height − ½. All values are in pixels.")
      .def(nb::init<double, double, double, double>(), "offset"_a = 0, "roll"_a = 0, "zoom"_a = 0, "keystone"_a = 0)
      .def_ro("offset", &RowAlignment::offset, "v in the centre of the image, in pixels.")
      .def_ro("roll", &RowAlignment::roll, "v at the right border minus v at the left border, in pixels.")
      .def_ro("zoom", &RowAlignment::zoom, "v at the lower border minus v at the upper border, in pixels.")
      .def_ro("keystone", &RowAlignment::keystone,
              "roll at the lower border minus roll at the upper border, in pixels.")
      .def_prop_ro("rms", &RowAlignment::rms, "Root mean square of v over the image, in pixels.")
      .def(
          "__eq__",
          [](const RowAlignment& a, nb::handle other) {
            RowAlignment b;
            return nb::try_cast(other, b) && a == b;
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__repr__", &text_of_rows)
      .def("__getstate__", [](const RowAlignment& a) { return RowValues(a.offset, a.roll, a.zoom, a.keystone); })
      .def("__setstate__", [](RowAlignment& a, const RowValues& v) {
        const auto& [offset, roll, zoom, keystone] = v;
        new (&a) RowAlignment{offset, roll, zoom, keystone};
      });
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
      .def("__repr__", [](const RowEstimate& e) { return "<" + e.sentence() + ">"; });
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
