// The loop of a run: reads frames ahead, keeps some of them in flight, and writes results behind. A frame that fails
// ends the run or, with keep_going, is recorded; frames begun before it are finished in either case.
#pragma once

#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/frame_record.hpp"
#include "jobs/pair_loop.hpp"
#include "jobs/pair_matcher.hpp"
#include "jobs/sinks.hpp"
#include "stereopsis/pair_judge.hpp"

namespace stereopsis::jobs {

struct LoopSettings {
  std::size_t in_flight = 1;             // frames; with 1, frames are read, matched and written by the calling thread
  std::size_t files_at_once = 1;         // frames that are read, and frames that are written, at the same time
  bool keep_going = false;               // a frame that fails does not end the run
  bool strict = false;                   // a frame of which little is measured fails
  std::uint8_t without = 0;              // pixels with a bit of these, validity::filled or repaired, become invalid
  std::optional<double> min_confidence;  // pixels with less confidence become invalid
  bool with_right = false;               // the right view is matched, too
  bool one_at_a_time = false;            // a frame depends on the result of the frame before it
};

// The frames of a loop. Several threads may call const functions and, for different frames, take().
class LoopFrames {
 public:
  virtual ~LoopFrames() = default;

  virtual std::string name(std::size_t i) const = 0;
  // Returns the plan of the first frame. Throws an Error before anything is written if it does not fit.
  virtual Plan first_plan() const = 0;
  // Returns which frames need no work, for results of this size.
  virtual std::vector<bool> there(Size result) const = 0;
  // Reads a frame with its range. Each frame is read once.
  virtual InputFrame take(std::size_t i) = 0;
  // Returns the rows of a frame that needs no work, if the alignment of later frames depends on them.
  virtual std::optional<RowMeasurement> rows_of(std::size_t) const { return {}; }
  // Sets the alignment of a frame. The thread of the loop calls this function for all frames in their order. `passed` has
  // the rows of the frames before it that need no work.
  virtual void align(InputFrame&, const std::vector<RowMeasurement>& passed) { static_cast<void>(passed); }
  // Adds what a frame takes from the result of the frame before, for LoopSettings::one_at_a_time. The thread of the loop
  // calls both functions.
  virtual void follow(InputFrame&, std::size_t) {}
  virtual void keep(std::size_t, const Matched&) {}
  // `of_right`: of the right view, which is the left view of the mirrored pair.
  virtual Problem problem(const InputFrame& frame, bool of_right) const = 0;
  // Returns the faults of a frame that is checked whatever is measured, and nullopt for other frames.
  virtual std::optional<std::vector<PairFault>> sampled_faults(const InputFrame& frame, std::size_t i) const = 0;
  // Judges a pair of which this share of the usable pixels, 0 to 1, was measured. `sampled` has the faults of the frame
  // if they are known. Returns the complaint, or "".
  virtual std::string judge_measured(const InputFrame& frame, std::size_t i, double measured,
                                     const std::optional<std::vector<PairFault>>& sampled) = 0;
};

// The smallest percentage of measured pixels; fewer indicate a problem with the pair or the settings.
inline constexpr double least_measured = 5;

class Loop : private LoopSteps {
 public:
  // All arguments must outlive the object. `records` has one record for each frame.
  Loop(const LoopSettings& settings, LoopFrames& frames, const Pipeline& pipeline, const std::vector<Device>& devices,
       const Sinks& sinks, const ResultFacts& facts, FrontEnd& front_end, FrameRecords& records);

  // Matches all frames. Throws the error that ends the run.
  void run();
  // Returns what the user can do after an interrupted run; empty if there is nothing to continue.
  const std::string& advice() const { return advice_; }

 private:
  // The data that is read ahead of matching.
  struct Read {
    InputFrame frame, mirrored;
    std::vector<RowMeasurement> passed;  // the rows of the frames before it that need no work
  };
  // A frame while it is in flight or written.
  struct Slot : LoopPair {
    std::size_t frame = 0;
    bool is_unreadable = false;  // now or later
    Read input;
    FrameResult result;
    ViewTickets tickets;
    double measured = 0;  // share of the usable pixels
    std::optional<std::vector<PairFault>> sampled_faults;
    std::future<std::optional<std::vector<PairFault>>> judging;
    std::future<long long> writing;  // both are declared last, so that they end before their inputs are destroyed
  };
  // The failure that ends the run.
  struct Failure {
    Error error;
    bool is_unreadable = false;
  };

  std::size_t most_in_flight() const override { return settings_.one_at_a_time ? 1 : settings_.in_flight; }
  bool is_ready() override;
  std::unique_ptr<LoopPair> take() override;
  bool suits(const LoopPair& pair) override;
  void plan(LoopPair& pair) override;
  void begin(LoopPair& pair) override;
  void finish(LoopPair& pair) override;

  bool is_alone() const { return settings_.in_flight == 1; }
  std::launch launch() const { return is_alone() ? std::launch::deferred : std::launch::async; }
  void read_ahead();
  Read read(std::size_t number) const;
  std::unique_ptr<Slot> new_slot();
  void write(std::unique_ptr<Slot> slot);
  long long conclude(Slot& slot, FrameRecord& record);
  void note_result(Slot& slot, FrameRecord& record) const;
  void finish_writing(std::size_t left = 0);
  void note_there(std::size_t i);
  void note_failure(const Slot& slot, const std::exception_ptr& failure);
  void note_done();
  [[noreturn]] void throw_problem() const;
  std::size_t count() const { return records_.frames.size(); }

  const LoopSettings& settings_;
  LoopFrames& frames_;
  const Pipeline& pipeline_;
  const std::vector<Device>& devices_;
  const Sinks& sinks_;
  const ResultFacts& facts_;
  FrontEnd& front_end_;
  FrameRecords& records_;
  const std::string advice_;
  std::size_t done_ = 0;  // frames
  std::optional<Failure> problem_;
  std::optional<Plan> plan_;               // the plan of the first frame
  std::unique_ptr<PairMatcher> matchers_;  // destroyed before the memory that it works on
  std::vector<std::unique_ptr<Slot>> spare_;
  std::deque<std::unique_ptr<Slot>> written_;
  std::vector<std::size_t> todo_;  // frames to match, of which next_read_ were given to a reader
  std::size_t next_read_ = 0, next_taken_ = 0;
  PairLoop loop_{*this};
  std::deque<std::future<Read>> reading_;  // declared last, for the same reason
};

}  // namespace stereopsis::jobs
