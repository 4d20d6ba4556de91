// The loop over pairs that all runs share: it takes pairs, keeps several of them in flight, and returns them in order.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <optional>

#include "jobs/stopwatch.hpp"

namespace stereopsis::jobs {

// A pair on its way through the loop. A class with the images and the result derives from it.
struct LoopPair {
  virtual ~LoopPair() = default;

  std::exception_ptr failure;  // the reason for which the pair has no result
  Stopwatch since_begun;
  double latency_ms = 0;   // from begin() until the result was there
  double matching_ms = 0;  // the time for which the devices worked on this pair alone
};

// The steps of a run with its pairs. The thread that calls PairLoop::next() makes all calls. An exception of plan(),
// begin() and finish() is the failure of their pair.
class LoopSteps {
 public:
  virtual ~LoopSteps() = default;

  // Returns the largest number of pairs in flight, at least 1.
  virtual std::size_t most_in_flight() const = 0;
  // Returns whether take() has a pair, or the end, without waiting. Otherwise, pairs in flight are finished first.
  virtual bool is_ready() = 0;
  // Returns the next pair, which may have a failure, and null after the last one. An exception ends the loop after the
  // pairs in flight.
  virtual std::unique_ptr<LoopPair> take() = 0;
  // Returns whether the present plan serves the pair.
  virtual bool suits(const LoopPair& pair) = 0;
  // Plans for pairs like this one. No pair is in flight.
  virtual void plan(LoopPair& pair) = 0;
  // Starts to match a pair.
  virtual void begin(LoopPair& pair) = 0;
  // Waits for the result of a pair.
  virtual void finish(LoopPair& pair) = 0;
};

class PairLoop {
 public:
  explicit PairLoop(LoopSteps& steps) : steps_(steps) {}
  ~PairLoop();  // waits for the pairs in flight
  PairLoop(const PairLoop&) = delete;

  // Returns the next pair, with its result or its failure, and null after the last one.
  std::unique_ptr<LoopPair> next();
  // Ends the loop after the pairs in flight. Any thread may call this function.
  void stop() { is_stopped_ = true; }
  // Returns the number of pairs in flight.
  std::size_t in_flight() const { return in_work_.size(); }

 private:
  bool take_and_begin();
  std::unique_ptr<LoopPair> finish_oldest();

  LoopSteps& steps_;
  std::unique_ptr<LoopPair> waiting_;  // taken, and waits until a plan for it can be made
  std::deque<std::unique_ptr<LoopPair>> in_work_;
  std::exception_ptr problem_;  // an exception of take()
  std::optional<Stopwatch> since_done_;
  bool has_ended_ = false;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace stereopsis::jobs
