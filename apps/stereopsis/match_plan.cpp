// Plans of frames in `match`, and their presentation by --explain.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "match.hpp"
#include "terminal.hpp"

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

Geometry MatchJob::geometry() const {
  const auto on_device = cameras->maps_of_matcher();
  return {.rectification = on_device,
          .want_rectified = on_device && options.sinks.wants(ResultFile::cloud),
          .rig = cameras->rig(),
          .want_depth = options.sinks.wants_depth_map(),
          .want_points = options.sinks.wants(ResultFile::cloud),
          .want_uncertainty = options.sinks.wants(ResultFile::uncertainty),
          .frame = options.sinks.point_frame,
          .disparity_error = options.disparity_error.value_or(Geometry().disparity_error),
          .fill_depth = options.fill_depth};
}

ConstantRegions MatchJob::constant_regions() const {
  return options.constant.regions(inputs.left().file(inputs.first_index()), inputs.left().video != nullptr);
}

Problem MatchJob::problem(const InputFrame& frame, bool of_right) const {
  Problem problem = Problem::of(frame.pair(), frame.range);
  problem.region = region;
  problem.constant = constant_regions();
  problem.want_confidence = options.min_confidence.has_value();
  problem.want_times = options.timings || !options.sinks.report.empty();
  problem.memory_limit = memory->for_matching();
  if (options.sinks.wants(ResultFile::right)) problem.memory_limit /= 2;
  if (inputs.is_sequence()) problem.batch = 2;
  if (of_right) {
    if (region) problem.region->x = size().width - region->x - region->width;
  } else {
    problem.want_confidence |= options.sinks.wants(ResultFile::confidence) || options.sinks.wants(ResultFile::cloud);
    problem.geometry = geometry();
    request_volumes(*this, problem);
    for_each_plain_map([&](std::size_t file, const Output& output, auto) {
      if (options.sinks.wants(file)) *output.flag(problem) = true;
    });
  }
  return problem;
}

Plan MatchJob::plan_in_memory(const InputFrame& frame, bool of_right) const try {
  return Plan(pipeline, problem(frame, of_right), device);
} catch (const Error& error) {
  memory->explain(error);
}

Plan MatchJob::plan(const InputFrame& frame, bool of_right) const {
  const Plan made = plan_in_memory(frame, of_right);
  if ((options.sinks.crop || cameras->target()) && made.output_size() != size())
    refuse(
        fmt::format("{0} requires results of the size of the images, but this pipeline reduces the size; set "
                    "reduce.upsample=true, or leave {0} out",
                    options.sinks.crop ? "--crop" : "--register-to"));
  return made;
}

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

Explanation explain(const MatchJob& call) {
  const Plan plan = call.plan(call.first);
  Explanation explanation{plan, steps_of(plan)};
  call.options.json ? say("{}", json_text(to_json(explanation))) : print(explanation);
  return explanation;
}

}  // namespace stereopsis::command::matching
