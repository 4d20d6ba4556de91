// Threads that take pairs from one queue; each thread has a matcher. MatcherGroup and AsyncMatcher are thin layers on
// top of these workers.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "stereopsis/matcher.hpp"
#include "stereopsis/matcher_group.hpp"

namespace stereopsis {

class Workers {
 public:
  // A pair to match. The images of the pair and the result must remain valid until `done` is called.
  struct Job {
    StereoPair pair;
    Matched* result = nullptr;
    // Function that is called once, on a worker's thread, with null or the error of the pair. No lock is held during
    // the call. The function must not throw. The function may submit more jobs and destroy the workers.
    std::function<void(const std::exception_ptr&)> done;
    Ticket ticket = {};             // ticket from the matcher that has the pair in flight
    std::exception_ptr error = {};  // error of the pair
  };
  // Jobs move from list to list, so that a worker allocates no memory for a pair: it could not report a failed
  // allocation.
  using Jobs = std::list<Job>;
  using MakeMatcher = std::function<Matcher(const Device&)>;

  // Starts a thread for each device. The function `make` is called on this thread, which runs near the device. For a
  // single device, the matcher is made on the calling thread instead, because it may use the caller's arena. Throws the
  // error of `make` for the first device that fails, and Error(unsupported) if the system does not start a thread.
  Workers(std::span<const Device> devices, const MakeMatcher& make);
  ~Workers() { end(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t size() const;
  const Plan& plan(std::size_t worker = 0) const;

  // Each worker keeps up to Problem::batch pairs in flight, and finishes its jobs in the order in which it took them.
  // With a single worker, this is the order of submission. If a device is lost (Error(device)), the other workers take
  // over its jobs. If the last device is lost, all unfinished and all later jobs fail with its error.
  void submit(Jobs jobs);
  // Waits until as many jobs are finished as had been submitted before the call. With a single worker, these are the
  // same jobs.
  void wait();
  // Finishes all jobs and ends the threads. No job may be submitted afterwards. Inside a completion function or a
  // user-defined stage of the workers, the call does not wait: the threads finish the jobs, and the last thread frees
  // all memory.
  void end() noexcept;
  // Returns whether the calling thread is inside a completion function or a user-defined stage of the workers.
  bool is_inside() const;

  std::vector<LostDevice> lost() const;  // devices lost so far
  std::exception_ptr error() const;      // error of the last device if all devices are lost, else null

 private:
  struct State;

  explicit Workers(std::span<const Device> devices);

  const std::shared_ptr<State> state_;  // also held by each thread
  std::vector<std::thread> threads_;
};

}  // namespace stereopsis
