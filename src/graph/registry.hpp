// The registry of stages, and of the rules that replace runs of steps by fused operations. Files NAME_entry.cpp include
// this header.
#pragma once

#include "graph/facets.hpp"

namespace stereopsis {

// A run of consecutive steps, with the shapes of their operands and the device.
struct Run {
  std::span<const Step> steps;
  std::span<const AnyView> values;  // by index
  const Target& target;

  AnyView shape(const Operand& operand) const {
    return operand.value < 0 ? AnyView() : part_of(values[operand.value], operand.rows);
  }
};

// A rule that replaces a run of steps by one operation without changing the result. If several rules apply, the rule
// with the longest run takes precedence.
struct Rule {
  std::string name;
  std::vector<std::string> run;  // names of the stages in the run, with | between alternatives
  // Returns the step that replaces the run. If the rule does not apply, the returned step has no entry, and its note
  // states the reason.
  Step (*fuse)(const Run&);
  const StageDescriptor* operation;  // the operation of the new step; its slot is `internal`
  int (*tile_rows)(Size image, int disparities, const Target&) = nullptr;  // preferred number of rows of a tile
  std::vector<std::string> examples = {};  // pipelines to which the rule applies, written as METHOD NAME=VALUE …
};

// Returns a step that runs `operation` in place of a run, with the context of the first step of the run. An input port
// takes the first operand of its name that the run reads. An output port takes the last operand of its name that the
// run writes.
Step fused_step(const StageDescriptor& operation, StageParameters parameters, std::span<const Step> run);

// Calls f with the step as a call on a GPU whose memory is not allocated yet. Rules use it if they depend on the shapes
// of a kernel's operands.
template <class F>
auto with_planned_call(const Run& run, const Step& step, F&& f) {
  std::vector<AnyView> views;
  for (const Operand& operand : step.operands) {
    views.push_back(run.shape(operand));
    views.back().memory = views.back().empty() ? 0 : 1;
    views.back().offset = 0;
  }
  return f(Call<On::gpu>({step, views, run.target}, nullptr, {}));
}

struct Registry {
  std::vector<const StageDescriptor*> entries;
  std::vector<const StageDescriptor*> own;  // stages of the caller, which lists of stages do not have
  std::vector<const Rule*> rules;

  void add(const StageDescriptor& entry) { entries.push_back(&entry); }
  void add_own(const StageDescriptor& entry) { own.push_back(&entry); }
  void add(const Rule& rule) { rules.push_back(&rule); }
  // Returns the stage of the caller with this name; null if there is none.
  const StageDescriptor* find_own(std::string_view name) const;
  // Returns null if there is no entry of that name.
  const StageDescriptor* find(std::string_view name) const;
  const StageDescriptor& at(std::string_view name) const;
  // Returns the stage with a facet that only one stage has.
  template <class F>
  const StageDescriptor& with() const {
    for (const auto* list : {&entries, &own})
      for (const StageDescriptor* entry : *list)
        if (entry->facet<F>() != nullptr) return *entry;
    throw Error(ErrorCategory::call,
                "a stage that the planner requires is not registered; this is an error in the library, so report it");
  }
  std::vector<std::string> names(Slot) const;
};
// Returns the registry with the entries of all folders.
const Registry& registry();
// Returns a facet that only one stage has.
template <class F>
const F& facet_of() {
  return *registry().with<F>().template facet<F>();
}

}  // namespace stereopsis
