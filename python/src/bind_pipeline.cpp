#include "arrays.hpp"
#include "bindings.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/partition_plan.hpp"
#include "stereopsis/pipeline.hpp"
#include "stereopsis/stages.hpp"
#include "user_stage.hpp"

namespace stereopsis::python {
namespace {

bool suffice(const Pipeline& filled, nb::handle disparity, nb::handle validity, int first_row, int rows, bool at_top,
             bool at_bottom) {
  const BorrowedArray disparities = host_array(disparity, "disparity"), validities = host_array(validity, "validity");
  return rows_suffice(filled, {disparities.disparity(), validities.validity(), first_row, rows, at_top, at_bottom});
}

}  // namespace

void bind_pipeline(nb::module_& m) {
  nb::class_<MethodInfo>(m, "MethodInfo", "A named method or preset.")
      .def_ro("name", &MethodInfo::name, "Name of the method, as Pipeline() and `method=` accept it.")
      .def_ro("summary", &MethodInfo::summary, "Description of the method, in one line.")
      .def_ro("paper", &MethodInfo::paper, "Paper that describes the method; for a preset, its settings.")
      .def("__repr__", [](const MethodInfo& i) { return "<method " + i.name + ": " + i.summary + ">"; });

  nb::class_<ParameterInfo>(
      m, "ParameterInfo", "Description of a parameter, from which an interface can make a slider, a list or a switch.")
      .def_ro("name", &ParameterInfo::name, "Name of the parameter: \"slot.parameter\".")
      .def_ro("type", &ParameterInfo::type, "Type of the value: flag, choice, integer, number, numbers or text.")
      .def_ro("value", &ParameterInfo::value, "Current value, as text.")
      .def_ro("default", &ParameterInfo::default_value, "Default value in the method, as text.")
      .def_ro("allowed", &ParameterInfo::allowed, "Allowed values in words, such as \"an odd integer from 1 to 15\".")
      .def_ro("description", &ParameterInfo::description, "Meaning of the parameter.")
      .def_ro("minimum", &ParameterInfo::minimum, "Smallest number, or None.")
      .def_ro("maximum", &ParameterInfo::maximum, "Largest number, or None.")
      .def_ro("step", &ParameterInfo::step,
              "Distance between allowed numbers, counted from the minimum; 0 means that all numbers in between are "
              "allowed.")
      .def_ro("choices", &ParameterInfo::choices, "Allowed values of a choice.")
      .def_ro("unit", &ParameterInfo::unit, "Unit, such as \"pixels\"; empty if there is none.")
      .def("__repr__", [](const ParameterInfo& p) { return "<" + p.name + " = " + p.value + ": " + p.allowed + ">"; });

  nb::class_<PipelineSlot>(m, "Slot", "A slot of a pipeline with its stage.")
      .def_ro(
          "slot", &PipelineSlot::slot,
          "Name of the slot, such as \"optimisation\". The names of all parameters in the slot begin with this name.")
      .def_ro("stage", &PipelineSlot::kind, "Name of the stage in the slot, such as \"sgm\".")
      .def_ro("parameters", &PipelineSlot::parameters, "Parameters of the stage.")
      .def_ro("is_refinement", &PipelineSlot::is_refinement,
              "True if the slot is a refinement. A pipeline may have any number of refinements.")
      .def_ro("enabled", &PipelineSlot::enabled, "False for a refinement that is switched off.")
      .def_ro("is_function", &PipelineSlot::is_function, "True for a function of the caller.")
      .def_ro("changes_disparity", &PipelineSlot::changes_disparity,
              "False if the parameters change only the confidence, or the margin of a region.")
      .def_ro("computes_subpixels", &PipelineSlot::computes_subpixels,
              "True if the stage may compute fractions of a pixel.")
      .def_ro("fills", &PipelineSlot::fills,
              "True if the stage gives invalid pixels a disparity, and marks these pixels as filled.")
      .def_ro("keeps_invalid", &PipelineSlot::keeps_invalid,
              "True for a refinement that never gives an invalid pixel a disparity.")
      .def("__repr__", [](const PipelineSlot& s) { return "<" + s.slot + ": " + s.kind + ">"; });

  nb::class_<PartitionPlan>(
      m, "PartitionPlan",
      "A plan for matching stripes of rows with the same result as the whole image. `raw` runs on every stripe, and\n"
      "`refined` then runs on the maps of all stripes. Both pipelines read a margin of rows above and below the "
      "stripe.")
      .def_ro("follows_paths", &PartitionPlan::follows_paths,
              "True if path costs pass between stripes, as in semi-global matching. Otherwise, each stripe is matched "
              "as a\n"
              "region of the image.")
      .def_ro("path_kinds", &PartitionPlan::path_kinds,
              "Number of rows of Result.paths: 1 with 4 paths, 3 with 8 paths.")
      .def_ro("raw", &PartitionPlan::raw,
              "Pipeline from the images to the selection, with the refinements that have a small margin.")
      .def_ro("raw_rows", &PartitionPlan::raw_rows,
              "Margin of the refinements of `raw`, in rows. Path costs are also computed in this margin.")
      .def_ro("feature_rows", &PartitionPlan::feature_rows,
              "Margin of the matching cost and the penalties, in rows beyond `raw_rows`.")
      .def_ro("refined", &PartitionPlan::refined, "Pipeline of the remaining refinements, or None.")
      .def_ro("refined_rows", &PartitionPlan::refined_rows, "Margin of `refined`, in rows.")
      .def_ro("rated", &PartitionPlan::rated, "Pipeline that computes the confidence from the refined maps, or None.")
      .def_ro("rated_rows", &PartitionPlan::rated_rows, "Margin of `rated`, in rows.")
      .def_ro("block", &PartitionPlan::block, "The rows that are read for `rated` start at a multiple of this number.")
      .def_ro(
          "fills", &PartitionPlan::fills,
          "True if `refined` has a fill, which searches columns for measured pixels at any distance. Then `unfilled` "
          "has\nthe refinements before the fill, and `filled` the fill and the refinements after it. After `unfilled` "
          "has run on\nthe maps of all stripes, read the maps of a stripe with a margin of `behind_fill` rows, and "
          "more "
          "rows until\n`filled.rows_suffice` is true.")
      .def_ro("unfilled", &PartitionPlan::unfilled, "The refinements of `refined` before a fill, or None.")
      .def_ro("filled", &PartitionPlan::filled, "The fill of `refined` and the refinements after it, or None.")
      .def_ro("takes_edges", &PartitionPlan::takes_edges,
              "True if, from pixels farther away, the fill needs only the nearest measured disparity in each column. "
              "Then add\ntwo rows to the maps, just above and below, with these disparities; mask other pixels.")
      .def_ro("before_fill", &PartitionPlan::before_fill, "Margin of the refinements before the fill, in rows.")
      .def_ro("behind_fill", &PartitionPlan::behind_fill, "Margin of the refinements after the fill, in rows.")
      .def_prop_ro(
          "reads_images", [](const PartitionPlan& s) { return s.needs.images; }, "True if `refined` reads the images.")
      .def_prop_ro(
          "reads_right", [](const PartitionPlan& s) { return s.needs.right; },
          "True if `refined` reads the disparity of the right view.")
      .def_prop_ro(
          "reads_confidence", [](const PartitionPlan& s) { return s.needs.confidence; },
          "True if `refined` reads the confidence.");

  nb::class_<Pipeline>(m, "Pipeline")
      .def(nb::init<std::string_view>(), "method"_a)
      .def(nb::init<const Pipeline&>(), "other"_a)
      .def_prop_ro("method", &Pipeline::method, "Name of the method from which the pipeline was created.")
      .def(
          "set_text", [](Pipeline& p, std::string_view name, std::string_view value) { p.set(name, value); }, "name"_a,
          "value"_a)
      .def("put_stage", &set_stage, "slot"_a, "function"_a, "name"_a, "makes"_a, "largest"_a, "takes"_a.none(),
           "required_input"_a.none())
      .def("put_method", &set_method, "function"_a, "name"_a)
      .def(
          "get_text", [](const Pipeline& p, std::string_view name) { return p.get(name); }, "name"_a)
      .def("parameters", &Pipeline::parameters, "Returns all parameters, in the order of the slots.")
      .def("partition_plan", &partition_plan, "want_confidence"_a = false,
           "Returns the plan for matching stripes. Raises CallError with the reason if stripes cannot give the same "
           "result as the whole image.")
      .def(
          "rows_suffice", &suffice, "disparity"_a, "validity"_a, "first_row"_a, "rows"_a, "at_top"_a, "at_bottom"_a,
          "Returns whether the maps of a stripe have enough rows for PartitionPlan.filled. The stripe has `rows` rows, "
          "from\n`first_row` on. `at_top` and `at_bottom` are true if the maps begin or end at the border of the "
          "image.")
      .def("in_stripes", &partition_plan, "want_confidence"_a = false, "Deprecated name of partition_plan().")
      .def("slots", &Pipeline::slots, "Returns the slots with their stages.")
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
      "Raises FormatError if the JSON is nested too deeply.");
  m.def("read_pipeline", &read_pipeline, "file"_a);
}

}  // namespace stereopsis::python
