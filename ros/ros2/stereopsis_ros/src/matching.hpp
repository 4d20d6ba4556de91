// Matches the newest pair in a thread of its own, and publishes the results.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "notes.hpp"
#include "pairing.hpp"
#include "publishers.hpp"
#include "settings.hpp"
#include "stereopsis/run.hpp"

namespace stereopsis_ros {

class Matching : stereopsis::RunSource {
 public:
  // `on_done` is called by the thread after each pair, with the stamp of the pair and the seconds that it took.
  Matching(const StartSettings& start, LiveSettings live, const Publishers& publishers, Notes& notes,
           std::function<void(Stamp, double)> on_done);
  ~Matching() override;

  // Any thread may call these functions.
  std::size_t put(StampedPair pair) { return queue_.put(std::move(pair)); }  // returns the number of pairs dropped
  void clear() { queue_.clear(); }                                           // drops the pairs that wait
  void change(LiveSettings live);  // changes the settings from the next pair on
  std::int64_t failed() const { return failed_; }
  std::string rows() const;  // returns a sentence about the rows of the last pair

 private:
  // Pairs of one kind share a plan.
  struct Kind {
    std::shared_ptr<const LiveSettings> live = {};
    std::shared_ptr<const Cameras> cameras = {};
    bool is_lossy = false;
    Wanted wanted = {};

    bool operator==(const Kind&) const = default;
  };
  // A pair that is matched.
  struct Job {
    StampedPair pair;
    Kind kind;
  };

  std::optional<stereopsis::RunPair> take() override;
  bool is_ready() override { return queue_.is_ready(); }
  stereopsis::RunSettings settings_of(const Kind& kind);
  std::shared_ptr<stereopsis::RigTracker> tracker_of(const std::shared_ptr<const Cameras>& cameras);
  void write_rig() const;
  void note_contrast(const StampedPair& pair);
  void work();
  void finish(stereopsis::RunResult& done);

  const StartSettings& start_;
  const Publishers& publishers_;
  Notes& notes_;
  std::function<void(Stamp, double)> on_done_;
  stereopsis::LiveQueue<StampedPair> queue_;
  mutable std::mutex mutex_;
  std::shared_ptr<const LiveSettings> live_;
  std::string rows_;
  Kind kind_;
  std::optional<stereopsis::DisparityRange> estimated_;
  std::shared_ptr<const Cameras> tracked_;  // the cameras that the tracker follows
  std::shared_ptr<stereopsis::RigTracker> tracker_;
  std::atomic<std::int64_t> failed_ = 0;
  stereopsis::Run run_;
  std::thread thread_;
};

}  // namespace stereopsis_ros
