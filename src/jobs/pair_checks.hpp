// Checks the pairs of a run: the first one, a sample of a sequence, every pair of which little is measured, and in a
// strict run every pair.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/neighbours.hpp"
#include "jobs/search_range.hpp"
#include "sources/pairs.hpp"
#include "stereopsis/pair_judge.hpp"

namespace stereopsis::jobs {

class PairChecks {
 public:
  using Faults = std::vector<PairFault>;

  // `vertical`: the cameras are above each other. `aligns_rows`: pairs are judged as if their rows were aligned. All
  // arguments but these and `complaints` must outlive the object.
  PairChecks(const Inputs& inputs, const Cameras& cameras, Neighbours& neighbours, const SearchRange& range,
             bool vertical, bool aligns_rows, const Complaints& complaints, const SettingNames& names);

  // Judges the first frame, or one that was read to estimate the range, before anything is matched.
  void judge_first(const InputFrame& first);
  void judge_sample(const InputFrame& frame, std::size_t i) { judge(faults(frame, i), i); }
  // Throws an Error for a fault of a frame, if the run is strict.
  void check_strictly(const InputFrame& frame, std::size_t i) const;
  // Returns the faults of a frame that is checked whatever is measured, and nullopt for other frames. Several threads
  // may call this function.
  std::optional<Faults> sampled_faults(const InputFrame& frame, std::size_t i) const;
  // Judges a pair of which this share of the usable pixels, 0 to 1, was measured. `sampled` has the faults of the frame
  // if they are known. Returns the complaint, or "".
  std::string judge_measured(const InputFrame& frame, std::size_t i, double measured,
                             const std::optional<Faults>& sampled);
  // Warns of the complaints that several frames share.
  void summarise() const;

 private:
  // Warns of each kind of complaint once; in a strict run throws. Returns the first complaint, or "".
  std::string judge(const Faults& found, std::size_t i);
  Faults faults(const InputFrame& frame, std::size_t i) const;
  std::optional<PairFault> fault_of_calibration(const Faults& found, std::size_t i) const;
  std::string advice_on_calibration(std::size_t i) const;
  bool is_sound_as(std::size_t i, bool transpose, bool exchange) const;
  std::optional<PairFault> fault_beside_neighbour(const Faults& found, const InputFrame& frame, std::size_t i) const;
  bool expects_negative() const;
  std::string left_name(std::size_t i) const { return inputs_.left().name(i); }
  std::string right_name(std::size_t i) const { return inputs_.right().name(i); }
  std::string pair_name(std::size_t i) const { return sources::names_of_pair(inputs_.left(), inputs_.right(), i); }

  const Inputs& inputs_;
  const Cameras& cameras_;
  Neighbours& neighbours_;
  const SearchRange& range_;
  const bool vertical_, aligns_rows_;
  const Complaints complaints_;
  const SettingNames& names_;
  PairJudge judged_;  // used only by the thread that reports results
  std::string first_complaint_;
};

}  // namespace stereopsis::jobs
