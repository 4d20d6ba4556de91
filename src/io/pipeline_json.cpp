#include <algorithm>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/file.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {
namespace {

[[noreturn]] void refuse(const char* what, const std::string& name, const std::vector<std::string>& known) {
  throw Error(ErrorCategory::format, text("the pipeline has no ", what, " '", name, "'", did_you_mean(name, known),
                                          "; it has ", join(known, ", ")));
}

void check_parameters(const PipelineSlot& asked, const PipelineSlot& made) {
  std::vector<std::string> names = {text(made.slot, ".stage")};
  for (const ParameterInfo& parameter : made.parameters) names.push_back(parameter.name);
  for (const ParameterInfo& parameter : asked.parameters)
    if (std::find(names.begin(), names.end(), parameter.name) == names.end())
      refuse("parameter", parameter.name, names);
}

// Checks that the pipeline contains everything that the file requests, with the refinements in the same order. The
// check detects entries that were ignored or misinterpreted.
void check_same(const std::vector<PipelineSlot>& asked, const std::vector<PipelineSlot>& made) {
  std::vector<std::string> names;
  for (const PipelineSlot& slot : made) names.push_back(slot.slot);
  std::size_t last = 0;
  for (const PipelineSlot& slot : asked) {
    const auto index = static_cast<std::size_t>(std::find(names.begin(), names.end(), slot.slot) - names.begin());
    if (index == names.size() && slot.kind == "none") continue;
    if (index == names.size()) refuse("slot", slot.slot, names);
    if (made[index].is_refinement) {
      if (index < last)
        throw Error(ErrorCategory::format, text("the slot '", slot.slot, "' of the pipeline comes after '", names[last],
                                                "', but the order is ", join(names, ", "), "; use this order"));
      last = index;
    }
    if (slot.kind != made[index].kind)
      throw Error(ErrorCategory::format, text("the slot '", slot.slot, "' of the pipeline cannot have the stage '",
                                              slot.kind, "'; its stage is '", made[index].kind, "'"));
    check_parameters(slot, made[index]);
  }
}

}  // namespace

std::string to_json(const ParameterInfo& parameter) { return io::value_to_json(parameter); }

std::string to_json(const Pipeline& pipeline) { return io::slots_to_json({pipeline.method(), pipeline.slots()}); }

Pipeline pipeline_from_json(const std::string& json) {
  const io::NamedSlots asked = io::slots_from_json(json);
  Pipeline pipeline = Pipeline::from_slots(asked.method, asked.slots);
  check_same(asked.slots, pipeline.slots());
  return pipeline;
}

Pipeline read_pipeline(const std::filesystem::path& file) {
  const std::string json = read_text(file);
  return io::naming(file, [&] { return pipeline_from_json(json); });
}

}  // namespace stereopsis
