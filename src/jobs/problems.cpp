#include "jobs/problems.hpp"

#include <fmt/core.h>

namespace stereopsis::jobs {

Problems::Problems(const MatchingSettings& settings, const Inputs& inputs, const Cameras& cameras,
                   const SinkSettings& sinks, const MemoryBudget& memory, const SettingNames& names)
    : settings_(settings), inputs_(inputs), cameras_(cameras), sinks_(sinks), memory_(memory), names_(names) {}

Geometry Problems::geometry(const InputFrame& frame) const {
  const auto on_device = frame.maps ? frame.maps : cameras_.maps_of_matcher();
  return {.rectification = on_device,
          .want_rectified = on_device && sinks_.wants(ResultFile::cloud),
          .rig = cameras_.rig(),
          .want_depth = sinks_.wants_depth_map(),
          .want_points = sinks_.wants(ResultFile::cloud),
          .want_uncertainty = sinks_.wants(ResultFile::uncertainty),
          .frame = sinks_.point_frame,
          .disparity_error = settings_.disparity_error.value_or(Geometry().disparity_error),
          .fill_depth = settings_.fill_depth};
}

void Problems::request_results(const InputFrame& frame, Problem& problem) const {
  problem.want_confidence |= sinks_.wants(ResultFile::confidence) || sinks_.wants(ResultFile::cloud);
  problem.geometry = geometry(frame);
  if (frame.costs) problem.volumes.given = frame.costs->view().type;
  for (const SavedVolume& volume : sinks_.volumes) *volume.output->flag(problem) = true;
  for_each_plain_map([&](std::size_t file, const Output& output, auto) {
    if (sinks_.wants(file)) *output.flag(problem) = true;
  });
}

Problem Problems::of(const InputFrame& frame, bool of_right) const {
  Problem problem = Problem::of(frame.pair(), frame.range);
  problem.region = settings_.region;
  problem.constant = settings_.constant;
  // Frames of a sequence have different alignments, and some have none.
  if (frame.rows && (frame.rows->alignment || inputs_.is_sequence())) problem.row_alignment = RowAlignment();
  problem.want_confidence = settings_.min_confidence.has_value();
  problem.want_times = settings_.want_times;
  problem.memory_limit = memory_.for_matching();
  if (sinks_.wants(ResultFile::right)) problem.memory_limit /= 2;
  if (inputs_.is_sequence()) problem.batch = 2;
  if (!of_right)
    request_results(frame, problem);
  else if (auto& region = problem.region)
    region->x = cameras_.matched_size().width - region->x - region->width;
  return problem;
}

Plan Problems::plan(const InputFrame& frame, bool of_right) const try {
  Plan made(settings_.pipeline, of(frame, of_right), settings_.devices.front());
  if ((sinks_.crop || cameras_.target()) && made.output_size() != cameras_.matched_size())
    sources::refuse(
        fmt::format("{0} requires results of the size of the images, but this pipeline reduces the size; set "
                    "reduce.upsample=true, or leave {0} out",
                    names_.spelled(sinks_.crop ? "crop" : "register_to")));
  return made;
} catch (const Error& error) {
  memory_.explain(error);
}

}  // namespace stereopsis::jobs
