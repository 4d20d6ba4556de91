#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "stereopsis/in_stripes.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/pipeline.hpp"
#include "stereopsis/stages.hpp"
#include "user_stage.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace stereopsis::python {

void bind_pipeline(nb::module_& m) {
  nb::class_<MethodInfo>(m, "MethodInfo", "A named method.")
      .def_ro("name", &MethodInfo::name)
      .def_ro("summary", &MethodInfo::summary, "Description of the method, in one line.")
      .def_ro("paper", &MethodInfo::paper, "Source of the method.")
      .def("__repr__", [](const MethodInfo& i) { return "<method " + i.name + ": " + i.summary + ">"; });

  nb::class_<ParameterInfo>(m, "ParameterInfo",
                            "A parameter of a method: what a slider, a list or a switch is made of.")
      .def_ro("name", &ParameterInfo::name, "slot.parameter")
      .def_ro("type", &ParameterInfo::type, "flag, choice, integer, number, numbers or text")
      .def_ro("value", &ParameterInfo::value, "Value as text.")
      .def_ro("default", &ParameterInfo::default_value, "Default of the method, as text.")
      .def_ro("allowed", &ParameterInfo::allowed, "\"an odd integer from 1 to 15\"")
      .def_ro("description", &ParameterInfo::description)
      .def_ro("minimum", &ParameterInfo::minimum)
      .def_ro("maximum", &ParameterInfo::maximum)
      .def_ro("step", &ParameterInfo::step, "Step from the minimum on; 0: any number between.")
      .def_ro("choices", &ParameterInfo::choices, "Allowed values of a choice.")
      .def_ro("unit", &ParameterInfo::unit, "\"pixels\"; empty if it has none.")
      .def("__repr__", [](const ParameterInfo& p) { return "<" + p.name + " = " + p.value + ": " + p.allowed + ">"; });

  nb::class_<PipelineSlot>(m, "Slot", "A slot of a pipeline with its stage.")
      .def_ro("slot", &PipelineSlot::slot, "The prefix of its parameters: \"optimisation\".")
      .def_ro("stage", &PipelineSlot::kind, "\"sgm\"")
      .def_ro("parameters", &PipelineSlot::parameters)
      .def_ro("is_refinement", &PipelineSlot::is_refinement)
      .def("__repr__", [](const PipelineSlot& s) { return "<" + s.slot + ": " + s.kind + ">"; });

  nb::class_<InStripes>(
      m, "InStripes",
      "Rules to match in stripes of rows with the bits of the whole image: `raw` for every stripe, then "
      "`refined` on the maps of all. Of the rows that belong to other stripes each step reads some, above and below.")
      .def_ro("follows_paths", &InStripes::follows_paths,
              "Semi-global matching: path costs go from stripe to stripe. Else a stripe is a region of the image.")
      .def_ro("path_kinds", &InStripes::path_kinds, "Kinds of paths, in Result.paths: 1 with 4 paths, 3 with 8.")
      .def_ro("raw", &InStripes::raw, "Down to the selection, and the refinements that see a few rows alone.")
      .def_ro("raw_rows", &InStripes::raw_rows,
              "Rows that refinements of `raw` read, so that paths have to pass them, too.")
      .def_ro("feature_rows", &InStripes::feature_rows, "Rows beyond these that windows of the matching cost read.")
      .def_ro("refined", &InStripes::refined, "The refinements that are left, or None.")
      .def_ro("refined_rows", &InStripes::refined_rows, "Rows that `refined` reads.")
      .def_ro("fills", &InStripes::fills,
              "Where a pixel of the stripe's own rows, or of behind_fill rows around, is filled (or invalid without a "
              "mask), its column "
              "must have a measured pixel above and one below, at least before_fill rows inside of those that were "
              "read (or these go on "
              "to the image's edge); else more rows have to be read.")
      .def_ro("before_fill", &InStripes::before_fill)
      .def_ro("behind_fill", &InStripes::behind_fill)
      .def_prop_ro(
          "reads_images", [](const InStripes& s) { return s.needs.images; }, "`refined` needs the images, too.")
      .def_prop_ro(
          "reads_right", [](const InStripes& s) { return s.needs.right; }, "… the right view's map.")
      .def_prop_ro(
          "reads_confidence", [](const InStripes& s) { return s.needs.confidence; }, "… the confidence.");

  nb::class_<Pipeline>(m, "Pipeline")
      .def(nb::init<std::string_view>(), "method"_a)
      .def(nb::init<const Pipeline&>(), "other"_a)
      .def_prop_ro("method", &Pipeline::method, "The name of the method that it was made from.")
      .def(
          "set_text", [](Pipeline& p, std::string_view name, std::string_view value) { p.set(name, value); }, "name"_a,
          "value"_a)
      .def("put_stage", &set_stage, "slot"_a, "function"_a, "name"_a, "makes"_a, "largest"_a, "takes"_a.none(),
           "required_input"_a.none())
      .def(
          "get_text", [](const Pipeline& p, std::string_view name) { return p.get(name); }, "name"_a)
      .def("parameters", &Pipeline::parameters, "All parameters, in order.")
      .def("in_stripes", &in_stripes, "want_confidence"_a = false,
           "Returns the rules to match in stripes. Raises CallError with the reason if stripes can't have the bits of "
           "the whole.")
      .def("slots", &Pipeline::slots, "The slots, and which stage fills each.")
      .def(
          "to_json", [](const Pipeline& p) { return to_json(p); },
          "Returns the JSON that the command's --pipeline reads.")
      .def_static("parse", &pipeline_from_json, "json"_a);

  m.def("methods", &methods);
  m.def("presets", &presets);
  m.def("stages", [] {
    std::vector<std::pair<std::string, std::vector<std::string>>> stages;
    for (SlotChoices& c : slot_choices()) stages.emplace_back(std::move(c.slot), std::move(c.stages));
    return stages;
  });
  m.def(
      "check_json_depth", [](std::string_view json) { check_json_depth(json); }, "json"_a,
      "Raises FormatError where it is nested too deeply.");
  m.def("read_pipeline", &read_pipeline, "file"_a);
}

}  // namespace stereopsis::python
