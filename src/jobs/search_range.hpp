// The search range of a run: given, computed from depths, or estimated from frames spread over the sequence.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "jobs/cameras.hpp"
#include "stereopsis/pair_check.hpp"

namespace stereopsis::jobs {

struct RangeSettings {
  std::optional<int> min_disparity, disparities;
  std::optional<Length> near, far;    // depths, which need a calibration
  bool per_frame = false;             // the range is estimated for each frame
  std::filesystem::path cost_volume;  // its channels are the disparities from min_disparity on; empty: none

  bool is_estimated() const { return !disparities && !near && cost_volume.empty(); }
};

class SearchRange {
 public:
  // `without_sign`: the files of the run hold no negative disparities. All arguments must outlive the object.
  SearchRange(const RangeSettings& settings, const Inputs& inputs, const Cameras& cameras, bool without_sign,
              FrontEnd& front_end);

  bool has_costs() const { return !settings_.cost_volume.empty(); }
  bool is_estimated() const { return settings_.is_estimated(); }
  // Returns whether the settings ask for negative disparities.
  bool asks_for_negative() const { return settings_.min_disparity.value_or(0) < 0; }
  // Returns the range that the settings state; nullopt if it is estimated, or is that of given costs.
  std::optional<DisparityRange> given() const;

  void choose_of_costs(int disparities);
  // Chooses the range of all frames. `before` is the range of an earlier run. Calls visit(frame, i) for the frames that
  // were read to estimate it.
  using Visit = std::function<void(const InputFrame&, std::size_t)>;
  void choose(const InputFrame& first, const std::optional<DisparityRange>& before, bool strict, const Visit& visit);
  // Returns the range of all frames.
  DisparityRange whole() const { return whole_; }
  // Returns the range of a frame.
  DisparityRange of(const InputFrame& frame) const;
  // Throws an Error if no candidate of the range is inside the images.
  void check() const;
  // Returns the shares of the points of a frame that its range leaves out; 1 if they are not known.
  OutsideRange outside(std::size_t i, DisparityRange searched) const;

 private:
  std::pair<double, double> depths() const;  // in the unit of the rig
  DisparityRange of_depths() const;
  std::string advice_on_unit() const;
  DisparityRange estimated(const InputFrame& first, bool strict, const Visit& visit) const;
  DisparityRange as_files_hold(DisparityRange found) const;

  const RangeSettings& settings_;
  const Inputs& inputs_;
  const Cameras& cameras_;
  const bool without_sign_;
  FrontEnd& front_end_;
  DisparityRange whole_;
};

}  // namespace stereopsis::jobs
