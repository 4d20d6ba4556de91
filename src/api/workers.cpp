#include "api/workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "api/near_device.hpp"
#include "core/text.hpp"

namespace stereopsis {
namespace {

// Omits the text if there is not enough memory for the text.
LostDevice lost_device(const std::string& name, const char* why) noexcept {
  try {
    return {name, why};
  } catch (...) {
    return {};
  }
}

// Runs a step of a job that has not failed. Keeps an error as the error of the pair. An error that means a lost device
// is thrown.
template <class Step>
void attempt(Workers::Job& job, Step&& step) {
  try {
    if (!job.error) step();
  } catch (const Error& error) {
    if (error.category() == ErrorCategory::device) throw;
    job.error = std::current_exception();
  } catch (...) {
    job.error = std::current_exception();
  }
}

}  // namespace

struct Workers::State {
  // A device. A device, and the thread that uses its matcher.
  struct Worker {
    Device device;
    std::optional<Matcher> matcher = {};
    std::exception_ptr error = {};  // reason why there is no matcher
  };

  explicit State(std::span<const Device> devices);
  void make_matcher(Worker&, const MakeMatcher&);
  void await_matchers();
  void run(Worker&);
  void work(Matcher&, Jobs& in_flight);
  bool take_next(Jobs& in_flight);
  void finish_oldest(Jobs& in_flight);
  bool lose(Worker&, Jobs& in_flight, const Error&);
  void fail_all();

  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::vector<Worker> workers;
  Jobs waiting;  // jobs that no worker has taken, the oldest first
  std::uint64_t submitted = 0, finished = 0;
  bool stop = false;
  std::vector<LostDevice> lost;
  std::exception_ptr last_error;  // error of the last device that was lost

  static inline thread_local const State* own = nullptr;  // the workers to which the calling thread belongs
};

Workers::State::State(std::span<const Device> devices) {
  if (devices.empty())
    throw Error(ErrorCategory::call, "the group of matchers has no device; name at least one device");
  for (const Device& device : devices) workers.push_back({device});
  lost.reserve(devices.size());
}

void Workers::State::make_matcher(Worker& worker, const MakeMatcher& make) {
  std::optional<Matcher> made;
  std::exception_ptr error;
  try {
    move_near(worker.device.name);
    made.emplace(make(worker.device));
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex);
    worker.matcher = std::move(made);
    worker.error = error;
  }
  changed.notify_all();
}

void Workers::State::await_matchers() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return std::ranges::all_of(workers, [](auto& w) { return w.matcher || w.error; }); });
  for (const Worker& worker : workers)
    if (worker.error) std::rethrow_exception(worker.error);
}

void Workers::State::run(Worker& worker) {
  Jobs in_flight;
  try {
    work(*worker.matcher, in_flight);
  } catch (const Error& error) {
    const bool others_are_left = lose(worker, in_flight, error);
    if (!others_are_left) fail_all();
  }
}

// Enqueues pairs as they arrive, up to a batch of pairs. Finishes the oldest pair when there is no pair to enqueue.
// Throws the error if the device is lost.
void Workers::State::work(Matcher& matcher, Jobs& in_flight) {
  const auto batch = static_cast<std::size_t>(matcher.plan().problem().batch);
  for (;;) {
    if (in_flight.size() < batch && take_next(in_flight)) {
      Job& job = in_flight.back();
      attempt(job, [&] { job.ticket = matcher.enqueue(job.pair, *job.result); });
    } else if (!in_flight.empty()) {
      Job& job = in_flight.front();
      attempt(job, [&] { matcher.wait(job.ticket); });
      finish_oldest(in_flight);
    } else {
      return;
    }
  }
}

// Moves the oldest waiting job to those in flight. If no job is in flight, waits for a job. Returns false when all jobs
// of all workers are finished and no more can come: until then, another device may be lost and return its jobs.
bool Workers::State::take_next(Jobs& in_flight) {
  std::unique_lock lock(mutex);
  if (in_flight.empty()) changed.wait(lock, [this] { return !waiting.empty() || (stop && finished == submitted); });
  if (waiting.empty()) return false;
  in_flight.splice(in_flight.end(), waiting, waiting.begin());
  return true;
}

void Workers::State::finish_oldest(Jobs& in_flight) {
  in_flight.front().done(in_flight.front().error);
  in_flight.pop_front();  // frees what the function holds, which may destroy the workers, so no lock is held
  {
    const std::lock_guard lock(mutex);
    ++finished;
  }
  changed.notify_all();
}

// Returns the jobs to the queue as soon as the matcher no longer writes to their results. Returns whether another
// device remains.
bool Workers::State::lose(Worker& worker, Jobs& in_flight, const Error& error) {
  for (Job& job : in_flight) try {
      worker.matcher->wait(std::exchange(job.ticket, {}));
    } catch (...) {  // another worker matches the pair, so its result here does not matter
    }
  const std::lock_guard lock(mutex);
  lost.push_back(lost_device(worker.device.name, error.what()));
  const bool others_are_left = lost.size() < workers.size();
  if (!others_are_left) last_error = std::current_exception();
  waiting.splice(waiting.begin(), in_flight);
  changed.notify_all();
  return others_are_left;
}

// When the last device is lost, its thread reports the error to all remaining jobs.
void Workers::State::fail_all() {
  for (Jobs jobs; take_next(jobs);) {
    Job& job = jobs.front();
    if (!job.error) job.error = last_error;
    finish_oldest(jobs);
  }
}

Workers::Workers(std::span<const Device> devices) : state_(std::make_shared<State>(devices)) {}

// If this constructor throws, the destructor ends the threads that were started.
Workers::Workers(std::span<const Device> devices, const MakeMatcher& make) : Workers(devices) {
  State& s = *state_;
  if (devices.size() == 1) s.workers.front().matcher.emplace(make(devices.front()));
  threads_.reserve(devices.size());
  for (State::Worker& worker : s.workers) try {
      threads_.emplace_back([state = state_, &worker, &make] {
        State::own = state.get();
        if (!worker.matcher) state->make_matcher(worker, make);
        if (worker.matcher) state->run(worker);
      });
    } catch (const std::system_error& e) {
      throw Error(
          ErrorCategory::unsupported,
          text("the system did not start a thread for the matcher on '", worker.device.name, "' (", e.code().message(),
               "); end other threads, or raise the limits of processes and memory (ulimit -u, ulimit -v)"));
    }
  s.await_matchers();
}

std::size_t Workers::size() const { return state_->workers.size(); }
const Plan& Workers::plan(std::size_t worker) const { return state_->workers[worker].matcher->plan(); }

void Workers::submit(Jobs jobs) {
  const std::shared_ptr<State> state = state_;  // the completion function of a job may destroy the workers
  {
    const std::lock_guard lock(state->mutex);
    state->submitted += jobs.size();
    state->waiting.splice(state->waiting.end(), jobs);
  }
  state->changed.notify_all();
}

void Workers::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [s = state_.get(), until = state_->submitted] { return s->finished >= until; });
}

void Workers::end() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  const bool inside = is_inside();
  for (std::thread& thread : threads_) {
    if (!thread.joinable()) continue;
    inside ? thread.detach() : thread.join();
  }
}

bool Workers::is_inside() const {
  if (State::own == state_.get()) return true;
  const std::lock_guard lock(state_->mutex);
  return std::ranges::any_of(
      state_->workers, [](const State::Worker& worker) { return worker.matcher && worker.matcher->is_in_own_stage(); });
}

std::vector<LostDevice> Workers::lost() const {
  const std::lock_guard lock(state_->mutex);
  return state_->lost;
}

std::exception_ptr Workers::error() const {
  const std::lock_guard lock(state_->mutex);
  return state_->last_error;
}

}  // namespace stereopsis
