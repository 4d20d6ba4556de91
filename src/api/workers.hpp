// Threads with a matcher each that take pairs from one queue. MatcherGroup and AsyncMatcher are thin layers on them.
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
  // A pair to match. The pair's images and the result must stay until `done` is called.
  struct Job {
    StereoPair pair;
    Matched* result = nullptr;
    // Called once, on a worker's thread without a lock held, with null or the pair's error. It must not throw. It may
    // submit more jobs and destroy the workers.
    std::function<void(const std::exception_ptr&)> done;
    Ticket ticket = {};             // from the matcher that has the pair in flight
    std::exception_ptr error = {};  // error of the pair
  };
  // Jobs move from list to list, so that a worker allocates nothing for a pair, because it could not report the
  // failure.
  using Jobs = std::list<Job>;
  using MakeMatcher = std::function<Matcher(const Device&)>;

  // Starts a thread for each device; `make` is called on it, near the device. The matcher of a single device is made on
  // the calling thread instead: it may work in the caller's arena. Throws what `make` throws for the first device that
  // fails, and Error(unsupported) if the system gives no thread.
  Workers(std::span<const Device> devices, const MakeMatcher& make);
  ~Workers() { end(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t size() const;
  const Plan& plan(std::size_t worker = 0) const;

  // Each worker keeps a batch of pairs in flight (Problem::batch), and finishes its jobs in the order it took them,
  // with a single worker in the order of submission. The jobs of a device that is lost (Error(device)) go to the other
  // workers. When the last device is lost, all jobs that are not finished, and all later ones, get its error.
  void submit(Jobs jobs);
  // Waits until as many jobs are finished as were submitted before: with a single worker, exactly these.
  void wait();
  // Finishes all jobs and ends the threads; nothing may be submitted afterwards. Inside one of the workers' completion
  // functions or user-defined stages it does not wait: the threads finish the jobs, and the last one frees everything.
  void end() noexcept;
  // Returns whether the calling thread is inside a completion function or a user-defined stage of the workers.
  bool is_inside() const;

  std::vector<LostDevice> lost() const;  // devices lost so far
  std::exception_ptr error() const;      // error of the last device, once it is lost; else null

 private:
  struct State;

  explicit Workers(std::span<const Device> devices);

  const std::shared_ptr<State> state_;  // each thread keeps it, too
  std::vector<std::thread> threads_;
};

}  // namespace stereopsis
