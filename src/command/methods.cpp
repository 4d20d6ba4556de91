// The subcommand: stereopsis methods [NAME] [--json]
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/layout.hpp"
#include "command/terminal.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

constexpr std::size_t widest_column = 30;

struct ListOptions {
  std::string name;
  bool json = false, parameters = false;
};

void list_methods(bool as_json) {
  if (as_json) {
    Json list = Json::array();
    for (const MethodInfo& method : methods())
      list.push_back({{"name", method.name}, {"summary", method.summary}, {"paper", method.paper}});
    say("{}\n", list.dump(2));
    return;
  }
  std::vector<ListEntry> listed, by_wish;
  for (const MethodInfo& method : methods())
    listed.insert(listed.end(), {{method.name, method.summary}, {"", method.paper}});
  for (const MethodInfo& preset : presets())
    by_wish.push_back({preset.name, fmt::format("{}: {}", preset.paper, preset.summary)});
  const std::size_t column = column_for(listed);
  write_styled(listing("Methods", listed, column) + '\n' + listing("Presets", by_wish, column));
  say("\n{}", paragraph("`stereopsis methods NAME` lists the parameters of a method."));
}

// Returns the data for sliders, switches and lists.
Json parameters_of(const Pipeline& pipeline) {
  Json list = Json::array();
  for (const ParameterInfo& p : pipeline.parameters()) {
    ParameterInfo first = p;
    first.value = p.default_value;
    Json one = {{"name", p.name},
                {"type", p.type},
                {"value", Json::parse(to_json(p))},
                {"default", Json::parse(to_json(first))},
                {"allowed", p.allowed},
                {"unit", p.unit},
                {"description", p.description},
                {"needs_plan", p.needs_plan}};
    if (p.minimum) one.update({{"minimum", *p.minimum}, {"maximum", *p.maximum}, {"step", p.step}});
    if (!p.choices.empty()) one["choices"] = p.choices;
    list.push_back(std::move(one));
  }
  return list;
}

void show_method(const std::string& name, bool as_json) {
  const Pipeline pipeline(name);
  if (as_json) {
    say("{}\n", to_json(pipeline));
    return;
  }
  std::string out;
  for (const MethodInfo& method : methods())
    if (method.name == pipeline.method())
      out = listing("", {{method.name, method.summary}, {"", method.paper}}, method.name.size() + 4) + '\n';
  std::vector<ListEntry> slots, parameters;
  for (const PipelineSlot& slot : pipeline.slots()) {
    slots.push_back({slot.slot, slot.kind});
    for (const ParameterInfo& p : slot.parameters)
      parameters.push_back(
          {p.name, fmt::format("{}: {} [{}]", p.description, p.allowed, p.value.empty() ? "none" : p.value)});
  }
  write_styled(out + listing("Slots, and their stages", slots, column_for(slots)) + '\n' +
               listing("Parameters of --set", parameters, std::min(column_for(parameters), widest_column)));
  say("\n{}", paragraph("[…] is the value in use. A stage that fills only one slot may stand for its slot: sgm.p1 is "
                        "optimisation.p1."));
}

}  // namespace

void add_methods(CLI::App& application) {
  Command command(application, "methods", "List the methods, or the parameters of a method");
  const auto options = std::make_shared<ListOptions>();
  command.text("NAME", options->name, "", "Method to show [list all methods]");
  command.flag(
      "--json", options->json,
      "Print the pipeline of NAME as JSON, in the format of --pipeline; without NAME, print the list of methods");
  command.flag("--parameters", options->parameters,
               "Print the parameters of NAME as JSON, with minimum, maximum, step, choices and unit");
  command.callback([options] {
    if (options->parameters)
      say("{}\n", parameters_of(Pipeline(options->name.empty() ? "sgm" : options->name)).dump(2));
    else if (options->name.empty())
      list_methods(options->json);
    else
      show_method(options->name, options->json);
  });
}

}  // namespace stereopsis::command
