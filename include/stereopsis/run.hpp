// Matches the pairs of a source. A run plans for the pairs that come, keeps several of them in flight, judges them, and
// returns the results in order. Run and LiveSource are in CMake's target stereopsis::jobs.
//
//   LiveSource camera;  // another thread calls camera.put({.images = pair, .owner = buffers}) and, at the end, close()
//   Run run({.pipeline = Pipeline("sgm"), .range = DisparityRange{0, 128}}, camera);
//   for (RunResult done; run.next(done);) publish(done.pair.stamp, done.maps);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/live_queue.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/pair_judge.hpp"
#include "stereopsis/pair_source.hpp"
#include "stereopsis/pose.hpp"
#include "stereopsis/rig_tracking.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis {

// A pair that a source gives to a run.
struct RunPair {
  StereoPair images;                       // must stay valid as long as `owner` exists
  std::shared_ptr<const void> owner = {};  // keeps the images; may be empty if the images outlive the run
  std::string name = {};                   // name of the pair in messages, such as its file; may be empty
  std::int64_t stamp = 0;                  // for the caller, such as a time in nanoseconds; the run does not read it
  // Motion from the frame of the rectified left camera at the pair before to its frame at this pair, in the rig's unit.
  // RunSettings::seeds_previous reads it.
  std::optional<Pose> motion = {};
  ImageView<const float> flow = {};  // instead of `motion`: optical flow from the left image before, 2 channels
};

// Gives pairs to a run, whose thread makes all calls.
class RunSource {
 public:
  virtual ~RunSource() = default;
  // Returns the next pair, and nothing after the last one. Waits for the pair. A thrown exception ends the run after
  // the pairs in flight.
  virtual std::optional<RunPair> take() = 0;
  // Returns whether take() returns without waiting. Otherwise, the run first finishes the pairs in flight.
  virtual bool is_ready() { return true; }
};

// A source of pairs that come by themselves, such as those of cameras. Any thread may call put() and close(). If the run
// is slower than the cameras, it matches the newest pairs (WhenFull::drop_oldest), or put() waits (WhenFull::wait).
class LiveSource : public RunSource, public LiveQueue<RunPair> {
 public:
  using LiveQueue::LiveQueue;
  std::optional<RunPair> take() override { return LiveQueue::take(); }
  bool is_ready() override { return LiveQueue::is_ready(); }
};

// The pairs of files. Another thread reads each pair while the pairs before it are matched. The stamp of a pair is its
// number, from 0. A pair that cannot be read ends the run with its error.
class FileSource : public RunSource {
 public:
  explicit FileSource(PairSource files);  // starts to read the first pair
  ~FileSource() override;
  std::optional<RunPair> take() override;
  bool is_ready() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The settings of a run.
struct RunSettings {
  Pipeline pipeline{"sgm"};                  // the method
  std::vector<Device> devices = {Device{}};  // each pair goes to the next free device; if one fails, the others go on
  std::optional<DisparityRange> range = {};  // search range; estimated from the first pair if it is empty
  // The requested outputs, geometry, region of interest, regions without contrast, and limit of memory. The run sets
  // the size, pixel type, channels, bit depth, format, range and batch. It rejects stripes, given costs and refine_only.
  Problem problem = {};
  // True to align the rows of each pair by a RowFilter (stereopsis/rows.hpp). The thread of the run estimates the rows,
  // while earlier pairs are matched. An alignment that comes with a pair is kept. False: rows stay as they are.
  bool aligns_rows = true;
  // Follows a rig that moves. The pairs are raw pairs of its cameras, or rectified pairs of cameras_of() their rig; the run
  // rectifies each pair with the tracker's maps, and adds its rows. The caller reads the news. null: the rig does not move.
  std::shared_ptr<RigTracker> tracker = {};
  // True to make the disparities of the pair before the seeds of each pair, which reduces flicker. The run sets the stage
  // seeds of the pipeline, and matches one pair at a time. Pairs without motion and flow show what the pair before shows.
  bool seeds_previous = false;
  int in_flight = 2;   // largest number of pairs in flight on each device, 1 to 4096
  bool judges = true;  // the first pair, a sample, and pairs of which little is measured are checked
};

// A matched pair.
struct RunResult {
  RunPair pair;                          // the pair as it was given
  Matched maps;                          // the outputs; the memory is reused if the object is passed to next() again
  DisparityRange range;                  // search range of the pair
  std::optional<RowEstimate> rows = {};  // the estimate of the rows; the alignment is also that of `pair.images`
  double measured = 0;                   // share of the usable pixels that was measured, 0 to 1
  double latency_ms = 0;                 // from the start of the pair until its result
  double matching_ms = 0;                // time for which the devices worked on this pair alone, in milliseconds
  std::optional<PairFault> fault = {};   // fault of the pair, if it was checked and has one; maps are there in any case
  bool is_new_fault = false;             // no earlier pair of the run has a fault of this kind
};

// One thread at a time may use a run; stop() may be called by any thread.
class Run {
 public:
  // The source must outlive the run. Throws Error(call) for settings that are not allowed.
  Run(RunSettings settings, RunSource& source);
  ~Run();  // waits for the pairs in flight
  Run(Run&&) noexcept;

  // Waits for the next result. Returns false after the last pair. Throws the error of a pair that cannot be matched, with
  // its name; the next call continues with the pair after it. Throws the exception of the source.
  bool next(RunResult& result);
  // Changes the settings from the next pair on that is taken from the source. The judge forgets the pairs before it.
  void change(RunSettings settings);
  // Ends the run after the pairs in flight: no more pairs are taken from the source.
  void stop();

  const RunSettings& settings() const;  // the present settings
  // Returns the delay between the shutters of the cameras, if the rows of the pairs so far show one (stereopsis/rows.hpp).
  std::optional<ShutterDelay> shutters() const;
  std::optional<DisparityRange> range() const;  // the present search range; empty before an estimate
  std::vector<LostDevice> lost() const;         // devices that failed while others continued
  // Returns the plan for the pairs that were matched last; null before the first pair.
  const Plan* plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereopsis
