// The problem and the plan of each frame of a run, from what its results need.
#pragma once

#include <optional>
#include <vector>

#include "jobs/cameras.hpp"
#include "jobs/memory_budget.hpp"
#include "jobs/sinks.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::jobs {

struct MatchingSettings {
  Pipeline pipeline{"sgm"};
  std::vector<Device> devices;  // the devices that frames are distributed to; the first one does everything else
  std::optional<Rect> region;   // the part of the left image that is matched
  ConstantRegions constant;     // regions without contrast
  std::optional<double> min_confidence;   // pixels with less confidence become invalid
  std::optional<double> disparity_error;  // pixels, for the uncertainty; nullopt: what the confidence implies
  std::uint8_t without = 0;               // pixels with a bit of these, validity::filled or repaired, become invalid
  bool fill_depth = false;                // depths and points include filled and repaired pixels
  bool want_times = false;                // the times of the stages
};

class Problems {
 public:
  // All arguments must outlive the object.
  Problems(const MatchingSettings& settings, const Inputs& inputs, const Cameras& cameras, const SinkSettings& sinks,
           const MemoryBudget& memory, const SettingNames& names);

  // `of_right`: of the right view, which is the left view of the mirrored pair.
  Problem of(const InputFrame& frame, bool of_right = false) const;
  // Throws an Error if the problem does not fit the pipeline or the memory.
  Plan plan(const InputFrame& frame, bool of_right = false) const;

 private:
  Geometry geometry(const InputFrame& frame) const;
  void request_results(const InputFrame& frame, Problem& problem) const;

  const MatchingSettings& settings_;
  const Inputs& inputs_;
  const Cameras& cameras_;
  const SinkSettings& sinks_;
  const MemoryBudget& memory_;
  const SettingNames& names_;
};

}  // namespace stereopsis::jobs
