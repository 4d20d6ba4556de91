// A run: pairs of an input are matched, and their results written to files. The constructor finds and checks everything,
// so that only single frames can still fail.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/budget.hpp"
#include "jobs/constant_settings.hpp"
#include "jobs/loop.hpp"
#include "jobs/pair_checks.hpp"
#include "jobs/problems.hpp"
#include "jobs/record.hpp"
#include "jobs/rows.hpp"
#include "jobs/seed_source.hpp"

namespace stereopsis::jobs {

struct FileRunSettings {
  InputSettings inputs;
  CameraSettings cameras;
  RangeSettings range;
  MatchingSettings matching;
  SinkSettings sinks;
  MemoryLimit memory;
  ConstantSettings constant;
  RowSettings rows;
  SeedSettings seeds;
  Budget budget;                            // largest time of a pair; chooses one of `candidates` for matching.pipeline
  std::vector<BudgetCandidate> candidates;  // in the order of preference; none without a budget
  std::vector<std::pair<int, int>> probes;  // x, y of pixels of single pairs whose costs the front end shows
  // Other files that were read, each with the setting that names it: no result may replace them.
  std::vector<std::pair<std::filesystem::path, std::string>> read;
  bool strict = false;  // a doubt about a pair is an error
  bool resume = false;  // frames that an earlier run has completed are left as they are
};

// The choice of a budget.
struct BudgetOutcome {
  BudgetChoice choice;
  std::vector<std::string> options;  // options that give the same result without the budget
};

class FileRun : private LoopFrames {
 public:
  // Both arguments must outlive the object. Throws an Error for settings that do not suit each other or the files.
  FileRun(const FileRunSettings& settings, FrontEnd& front_end);
  FileRun(const FileRun&) = delete;  // the parts refer to each other

  // Returns everything that a result depends on, except the images and an estimated range, by names that a user knows.
  using Describe = std::function<Json()>;
  // Matches all frames. Calls `describe` for the record of a sequence. Throws the error that ends the run; `records` then
  // has the finished frames.
  void match(const Describe& describe, FrameRecords& records);

  const FileRunSettings& settings() const { return settings_; }
  const MatchingSettings& matching() const { return matching_; }  // with what depends on the input
  const Inputs& inputs() const { return inputs_; }
  const Cameras& cameras() const { return *cameras_; }
  const SearchRange& range() const { return *range_; }
  const PairChecks& checks() const { return *checks_; }
  const MemoryBudget& memory() const { return *memory_; }
  const Problems& problems() const { return *problems_; }
  // Returns the news of a rig that moves, up to the frames that were aligned.
  const std::vector<RigNews>& rig_news() const { return rig_news_; }
  const std::optional<BudgetOutcome>& budget() const { return budget_; }
  const Sinks& sinks() const { return *sinks_; }
  Sinks& sinks() { return *sinks_; }
  // The first frame that can be read; empty once it was matched.
  const InputFrame& first() const { return first_; }
  // Returns a size with rows and columns as in the files: they may be exchanged for matching.
  Size as_stored(Size matched) const;

 private:
  std::string name(std::size_t i) const override { return inputs_.left().name(i); }
  Plan first_plan() const override { return problems_->plan(first_); }
  std::vector<bool> there(Size result) const override;
  InputFrame take(std::size_t i) override;
  std::optional<RowMeasurement> rows_of(std::size_t i) const override;
  void align(InputFrame& frame, const std::vector<RowMeasurement>& passed) override;
  void follow(InputFrame& frame, std::size_t i) override { seeds_.follow(frame, i, *cameras_); }
  void keep(std::size_t i, const Matched& result) override {
    if (seeds_.needs_frame_before()) seeds_.keep(i, result);
  }
  Problem problem(const InputFrame& frame, bool of_right) const override { return problems_->of(frame, of_right); }
  std::optional<std::vector<PairFault>> sampled_faults(const InputFrame& frame, std::size_t i) const override {
    return checks_->sampled_faults(frame, i);
  }
  std::string judge_measured(const InputFrame& frame, std::size_t i, double measured,
                             const std::optional<std::vector<PairFault>>& sampled) override {
    return checks_->judge_measured(frame, i, measured, sampled);
  }

  void check_settings() const;
  void name_outputs();
  void read_first();
  void read_costs();
  void check_seeds() const;
  void check_tracking() const;
  void check_budget() const;
  void warn_of_seeds() const;
  InputFrame read_next(std::size_t i);
  void note_rows(std::size_t i, const std::optional<RowMeasurement>& rows) const;
  void tell_of_rig();
  void choose_cameras();
  void check_unit() const;
  void check_inside() const;
  void align_first();
  void choose_range();
  void choose_within_budget();
  ResultFacts facts() const;
  bool is_in_order() const;

  const FileRunSettings& settings_;
  FrontEnd& front_end_;
  const Complaints complaints_;
  MatchingSettings matching_;
  Inputs inputs_;
  SeedSource seeds_;
  std::optional<Sinks> sinks_;
  std::optional<Cameras> cameras_;
  std::optional<MemoryBudget> memory_;
  std::optional<Problems> problems_;
  std::optional<SearchRange> range_;
  std::optional<Neighbours> neighbours_;
  std::optional<PairChecks> checks_;
  std::optional<FrameRows> rows_;
  std::vector<RigNews> rig_news_;
  std::optional<BudgetOutcome> budget_;
  InputFrame first_;
  std::shared_ptr<const AnyImage> costs_;  // a given cost volume
  Describe describe_;
};

}  // namespace stereopsis::jobs
