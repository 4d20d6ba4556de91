#include "description.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common.hpp"
#include "python_package.hpp"

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

}  // namespace

std::string description_of(const CLI::App& application) {
  Json commands = Json::array();
  for (const CLI::App* command : application.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back({{"name", command->get_name()},
                        {"help", command->get_description()},
                        {"python", is_python_command(command->get_name())},
                        {"options", options_of(*command)},
                        {"footer", command->get_footer()}});
  return json_text({{"name", application.get_name()},
                    {"version", STEREOPSIS_VERSION},
                    {"help", application.get_description()},
                    {"options", options_of(application)},
                    {"commands", commands},
                    {"footer", application.get_footer()}});
}

}  // namespace stereopsis::command
