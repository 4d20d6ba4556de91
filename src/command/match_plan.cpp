// The plan of the first frame, as --explain prints it.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/match.hpp"
#include "command/terminal.hpp"

namespace stereopsis::command::matching {
namespace {

std::vector<PlannedStep> steps_of(const Plan& plan) {
  std::vector<PlannedStep> steps;
  for (const PlanStep& one : plan.steps()) {
    const auto like = std::find_if(steps.begin(), steps.end(), [&](const PlannedStep& other) {
      return other.step.stage == one.stage && other.step.work.name == one.work.name && other.step.note == one.note;
    });
    PlannedStep& planned = like == steps.end() ? steps.emplace_back(PlannedStep{one, 0, {}}) : *like;
    if (planned.times++ == 0) continue;
    planned.step.scratch_bytes = std::max(planned.step.scratch_bytes, one.scratch_bytes);
    for (double StageTime::*count :
         {&StageTime::bytes, &StageTime::path_operations, &StageTime::popcounts, &StageTime::operations})
      planned.step.work.*count += one.work.*count;
  }
  const Roofs roofs = measure_roofs(plan.device());
  for (PlannedStep& planned : steps) planned.roof = roof_of(planned.step.work, roofs);
  return steps;
}

void print(const Explanation& explanation) {
  const Plan& plan = explanation.plan;
  Table table({"step", "done by", "", "times", "MiB", "10⁶ operations", "scratch MiB", "roof ms", "bound"});
  for (const auto& [step, times, roof] : explanation.steps) {
    const StageTime& work = step.work;
    const double operations = work.path_operations + work.popcounts + work.operations;
    table.add({work.name, step.stage, step.fused ? "fused" : "", std::to_string(times), cell(work.bytes / mebibyte, 2),
               cell(operations * 1e-6, 1), cell(static_cast<double>(step.scratch_bytes) / mebibyte, 2),
               cell(roof.ms, 3), to_string(roof.bound)});
  }
  say("{} on {}, {}: {} of workspace{}\n", plan.pipeline().method(), plan.device().name,
      to_string(plan.device().implementation), memory_text(plan.workspace_bytes()),
      plan.stripe_rows() > 0 ? fmt::format(", in stripes of {} rows", plan.stripe_rows()) : "");
  table.left({0, 1, 2, 8}).print();
  for (const auto& [step, times, roof] : explanation.steps)
    if (!step.note.empty()) say("{}: not by {}\n", step.stage, step.note);
}

}  // namespace

Json to_json(const Explanation& explanation) {
  const Plan& plan = explanation.plan;
  Json steps = Json::array();
  for (const auto& [step, times, roof] : explanation.steps)
    steps.push_back({{"name", step.work.name},
                     {"done_by", step.stage},
                     {"fused", step.fused},
                     {"times", times},
                     {"bytes", step.work.bytes},
                     {"path_operations", step.work.path_operations},
                     {"popcounts", step.work.popcounts},
                     {"operations", step.work.operations},
                     {"scratch_bytes", step.scratch_bytes},
                     {"roof_ms", roof.ms},
                     {"bound", to_string(roof.bound)},
                     {"note", step.note}});
  return {{"implementation", to_string(plan.device().implementation)},
          {"workspace_bytes", plan.workspace_bytes()},
          {"stripe_rows", plan.stripe_rows()},
          {"steps", steps}};
}

Explanation explain(const Call& call) {
  const Plan plan = call.run.problems().plan(call.run.first());
  Explanation explanation{plan, steps_of(plan)};
  call.options.json ? say("{}", json_text(to_json(explanation))) : print(explanation);
  return explanation;
}

}  // namespace stereopsis::command::matching
