#include <algorithm>

#include "core/text.hpp"
#include "graph/descriptor.hpp"

namespace stereopsis {

void join_all(Registry&);  // made by CMake from the folders that are there

const Registry& registry() {
  static const Registry all = [] {
    Registry registry;
    join_all(registry);
    return registry;
  }();
  return all;
}

const StageDescriptor* Registry::find(std::string_view name) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const StageDescriptor* e) { return e->name == name; });
  return found == entries.end() ? nullptr : *found;
}

const StageDescriptor& Registry::at(std::string_view name) const {
  if (const StageDescriptor* entry = find(name)) return *entry;
  throw Error(ErrorCategory::call, text("there is no stage '", name, "'"));
}

const StageDescriptor& Registry::at(Role role) const {
  const auto found = std::ranges::find(entries, role, &StageDescriptor::role);
  if (found == entries.end()) throw Error(ErrorCategory::call, "a stage that the planner needs is not registered");
  return **found;
}

std::vector<std::string> Registry::names(Slot slot) const {
  std::vector<std::string> list;
  for (const StageDescriptor* entry : entries)
    if (entry->slot == slot) list.push_back(entry->name);
  return list;
}

}  // namespace stereopsis
