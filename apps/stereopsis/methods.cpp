// The subcommand: stereopsis methods [NAME] [--json]
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "stereopsis/io.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

struct Options {
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
  Table table({"method", "description and paper"});
  for (const MethodInfo& method : methods()) {
    table.add({method.name, method.summary});
    table.add({"", method.paper});
  }
  table.left({0, 1}).print();
  Table by_wish({"preset", "description", "method"});
  for (const MethodInfo& preset : presets()) by_wish.add({preset.name, preset.summary, preset.paper});
  say("\n");
  by_wish.left({0, 1, 2}).print();
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
  for (const MethodInfo& method : methods())
    if (method.name == pipeline.method()) say("{}: {}\n{}\n\n", method.name, method.summary, method.paper);
  Table table({"slot", "stage"});
  for (const PipelineSlot& slot : pipeline.slots()) table.add({slot.slot, slot.kind});
  table.left({0, 1}).print();
  say("\nIn --set, NAME is a slot, or a stage that fills only one slot.\n\n");
  Table parameters({"--set", "default", "allowed", "description"});
  for (const ParameterInfo& p : pipeline.parameters()) parameters.add({p.name, p.value, p.allowed, p.description});
  parameters.left({0, 1, 2, 3}).print();
}

}  // namespace

void add_methods(CLI::App& application) {
  Command command(application, "methods", "List the methods, or the parameters of a method");
  const auto options = std::make_shared<Options>();
  command.text("NAME", options->name, "", "Method to show [list all methods]");
  command.flag("--json", options->json,
               "Print JSON: the pipeline of NAME, in the format that --pipeline reads, or the list of methods");
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
