#include <algorithm>

#include "core/text.hpp"
#include "graph/registry.hpp"

namespace stereopsis {

void join_all(Registry&);  // a function that CMake generates from the existing folders

const Registry& registry() {
  static const Registry all = [] {
    Registry registry;
    join_all(registry);
    return registry;
  }();
  return all;
}

namespace {

const StageDescriptor* named(std::span<const StageDescriptor* const> entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &StageDescriptor::name);
  return found == entries.end() ? nullptr : *found;
}

}  // namespace

const StageDescriptor* Registry::find(std::string_view name) const { return named(entries, name); }
const StageDescriptor* Registry::find_own(std::string_view name) const { return named(own, name); }

const StageDescriptor& Registry::at(std::string_view name) const {
  if (const StageDescriptor* entry = find(name)) return *entry;
  throw Error(ErrorCategory::call,
              text("there is no stage '", name, "'; `stereopsis methods NAME` lists the stages of a method"));
}

Step fused_step(const StageDescriptor& operation, StageParameters parameters, std::span<const Step> run) {
  Step fused{&operation, std::move(parameters), run.front().context, {}, operation.title, {}};
  for_each_operand(operation.ports(fused.parameters, {}), [&](const Port& port, Side view) {
    Operand operand;
    bool found = false;
    for (const Step& step : run) {
      const int i = find_operand(step.operands, port.name, view, writes(port.use) ? Access::output : Access::input);
      if (i < 0 || (found && !writes(port.use))) continue;
      operand = step.operands[static_cast<std::size_t>(i)];
      found = true;
    }
    fused.operands.push_back(named(operand, port, view));
  });
  return fused;
}

std::vector<std::string> Registry::names(Slot slot) const {
  std::vector<std::string> list;
  for (const StageDescriptor* entry : entries)
    if (entry->slot == slot) list.push_back(entry->name);
  return list;
}

}  // namespace stereopsis
