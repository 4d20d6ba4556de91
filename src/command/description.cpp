#include "command/description.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "command/common.hpp"
#include "command/python_package.hpp"
#include "stereopsis/stages.hpp"

namespace stereopsis::command {
namespace {

// Describes an option, whose names begin with dashes, or a positional argument, whose name does not.
Json description_of(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (option.get_positional()) names.push_back(option.get_name(true));
  return {{"names", names},
          {"placeholder", option.get_positional() ? "" : option.get_option_text()},
          {"help", option.get_description()},
          {"group", option.get_positional() ? "Arguments" : option.get_group()},
          {"flag", option.get_items_expected_max() == 0},
          {"required", option.get_required()},
          {"repeatable", option.get_items_expected_max() > 1}};
}

Json options_of(const CLI::App& app) {
  Json options = Json::array();
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) options.push_back(description_of(*option));  // skips hidden options
  return options;
}

// Returns the names that --set accepts for some method: the parameters of the stages that may fill each slot.
Json settings() {
  std::set<std::string> names = {"refinements"};
  const auto add = [&](const Pipeline& pipeline, const std::string& slot) {
    for (const PipelineSlot& one : pipeline.slots())
      if (slot.empty() || one.slot == slot)
        for (const ParameterInfo& parameter : one.parameters) names.insert(parameter.name);
  };
  for (const MethodInfo& method : methods()) add(Pipeline(method.name), "");
  for (const SlotChoices& choices : slot_choices()) {
    const bool refines = choices.slot == "refinements";
    if (!refines) names.insert(choices.slot + ".stage");
    for (const std::string& stage : choices.stages) try {
        Pipeline pipeline("banz-sgm");
        pipeline.set(refines ? choices.slot : choices.slot + ".stage", stage);
        add(pipeline, refines ? stage : choices.slot);
      } catch (const Error&) {  // the stage requires another one, or a stage of the user
      }
  }
  return names;
}

// Returns the names of the refinements.
Json refinements() {
  for (const SlotChoices& choices : slot_choices())
    if (choices.slot == "refinements") return choices.stages;
  return Json::array();
}

}  // namespace

std::string description_of(const CLI::App& application) {
  Json commands = Json::array();
  for (const CLI::App* command : application.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back({{"name", command->get_name()},
                        {"help", command->get_description()},
                        {"python", is_python_command(command->get_name())},
                        {"options", options_of(*command)},
                        {"footer", command->get_footer()}});
  Json preset_names = Json::array();
  for (const MethodInfo& preset : presets()) preset_names.push_back(preset.name);
  return json_text({{"name", application.get_name()},
                    {"version", STEREOPSIS_VERSION},
                    {"help", application.get_description()},
                    {"options", options_of(application)},
                    {"commands", commands},
                    {"presets", preset_names},
                    {"settings", settings()},
                    {"refinements", refinements()},
                    {"footer", application.get_footer()}});
}

}  // namespace stereopsis::command
