#include "stereopsis/matcher_group.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "api/failures.hpp"
#include "api/results.hpp"

namespace stereopsis {
namespace {

// The processors in "0-15,32-47".
void add_processors(const std::string& list, cpu_set_t& set) {
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    int first = 0, last = 0;
    char dash = 0;
    std::istringstream range(part);
    if (!(range >> first)) continue;
    last = range >> dash >> last ? last : first;
    for (int i = first; i <= last && i < CPU_SETSIZE; ++i) CPU_SET(i, &set);
  }
}

// The thread moves to the processors that its GPU is attached to, where what it allocates page-locked then lies.
void move_near(const std::string& device) {
  if (device == "cpu") return;
  std::string place;
  for (const auto& [property, value] : gpu::device(device).describe().properties)
    if (property == "PCI address") place = value;
  std::ifstream file(text("/sys/bus/pci/devices/", place, "/local_cpulist"));
  std::string list;
  cpu_set_t allowed, near, both;
  CPU_ZERO(&near);
  if (place.empty() || !std::getline(file, list) || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  add_processors(list, near);
  CPU_AND(&both, &near, &allowed);
  if (CPU_COUNT(&both) > 0) sched_setaffinity(0, sizeof both, &both);
}

// Leaves the sentences out if there is no memory for them.
LostDevice lost_device(const std::string& name, const char* why) noexcept {
  try {
    return {name, why};
  } catch (...) {
    return {};
  }
}

}  // namespace

struct MatcherGroup::State {
  struct Job {
    std::uint64_t number = 0;
    const StereoPair pair;
    Matched* result = nullptr;
    Ticket ticket = {};  // of the matcher that does it
    bool done = false;
    std::exception_ptr error = {};
  };
  using Jobs = std::list<std::shared_ptr<Job>>;  // moved from list to list, so that workers never allocate for a pair

  // A device and its thread.
  struct Worker {
    Device device;
    std::optional<Plan> plan;
    std::exception_ptr error;  // of its beginning
    bool ready = false, lost = false;
    const Matcher* matcher = nullptr;  // while there is one
    std::thread thread;
  };

  State(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices);
  ~State() { end(); }

  void run(Worker&, const Pipeline&, const Problem&);
  void work(Worker&, Matcher&);
  bool take_next(Jobs& in_work);
  template <class Step>
  bool attempt(Worker&, const std::shared_ptr<Job>&, Jobs& in_work, Step&& step);
  void lose(Worker&, Jobs& in_work, std::exception_ptr error);
  void finish(Job&, std::exception_ptr error);
  void end();
  // Throws where the group is entered from a stage that it is running. The mutex is held.
  void enter() const {
    if (is_inside())
      throw Error(ErrorCategory::call,
                  "a group of matchers is used inside a stage that it is running; use another matcher there, or use the "
                  "group after the stage has returned");
  }
  bool is_inside() const {
    return std::ranges::any_of(
        workers, [](const auto& worker) { return worker->matcher != nullptr && worker->matcher->is_in_own_stage(); });
  }
  // Throws where the ticket is of another group, or of a matcher. A default-constructed ticket is done.
  void check(Ticket ticket) const {
    if (ticket != Ticket() && (ticket.matcher != id || ticket.number >= given))
      throw Error(ErrorCategory::call, "a ticket is not of this group; wait with the group that gave it");
  }
  bool has_device() const {
    return std::ranges::any_of(workers, [](const auto& worker) { return !worker->lost; });
  }

  static inline std::atomic<std::uint64_t> groups = std::uint64_t{1} << 63;  // matchers count from 1
  const std::uint64_t id = ++groups;
  int in_flight = 0;
  mutable std::mutex mutex;  // for what follows
  std::condition_variable changed;
  Jobs waiting;                                       // the oldest first
  std::map<std::uint64_t, std::shared_ptr<Job>> all;  // that nobody has waited for
  Failures failures;                                  // of those that somebody has waited for
  std::uint64_t given = 0;
  int unfinished = 0;
  bool stop = false;
  std::vector<LostDevice> lost;
  std::exception_ptr last_error;  // of the last device
  std::vector<std::unique_ptr<Worker>> workers;
};

MatcherGroup::State::State(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices)
    : in_flight(problem.batch * static_cast<int>(devices.size())) {
  if (devices.empty()) throw Error(ErrorCategory::call, "a group of matchers has no device; name at least one");
  for (const Device& device : devices) workers.emplace_back(std::make_unique<Worker>())->device = device;
  lost.reserve(devices.size());
  for (const auto& worker : workers) try {
      worker->thread = std::thread([this, &pipeline, &problem, w = worker.get()] { run(*w, pipeline, problem); });
    } catch (const std::system_error& e) {
      const std::lock_guard lock(mutex);
      worker->error = std::make_exception_ptr(
          Error(ErrorCategory::unsupported, text("the system gives no thread for '", worker->device.name, "' (",
                                                 e.code().message(), "); use fewer devices, or raise its limits")));
      worker->ready = true;
    }
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return std::ranges::all_of(workers, [](const auto& w) { return w->ready; }); });
  const auto failed = std::ranges::find_if(workers, [](const auto& w) { return w->error != nullptr; });
  if (failed == workers.end()) return;
  lock.unlock();
  end();
  std::rethrow_exception((*failed)->error);
}

// Does what is in work, first.
void MatcherGroup::State::end() {
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  changed.notify_all();
  for (const auto& worker : workers)
    if (worker->thread.joinable()) worker->thread.join();
}

// A worker's thread: its matcher is made, used and ended here.
void MatcherGroup::State::run(Worker& worker, const Pipeline& pipeline, const Problem& problem) {
  std::optional<Matcher> matcher;
  try {
    if (workers.size() > 1) move_near(worker.device.name);
    worker.plan.emplace(pipeline, problem, worker.device);
    matcher.emplace(*worker.plan);
  } catch (...) {
    worker.error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex);
    worker.ready = true;
    if (matcher) worker.matcher = &*matcher;
  }
  changed.notify_all();
  if (!matcher) return;
  work(worker, *matcher);
  const std::lock_guard lock(mutex);
  worker.matcher = nullptr;
}

// Begins pairs as they come, up to a batch of them, and ends the oldest where there is no more to begin.
void MatcherGroup::State::work(Worker& worker, Matcher& matcher) {
  Jobs in_work;
  const auto batch = static_cast<std::size_t>(matcher.plan().problem().batch);
  for (;;) {
    if (in_work.size() < batch && take_next(in_work)) {
      const std::shared_ptr<Job> job = in_work.back();
      if (!attempt(worker, job, in_work, [&] { job->ticket = matcher.enqueue(job->pair, *job->result); })) return;
      continue;
    }
    if (in_work.empty()) return;
    const std::shared_ptr<Job> job = in_work.front();
    if (!attempt(worker, job, in_work, [&] { matcher.wait(job->ticket); })) return;
    if (!in_work.empty() && in_work.front() == job) {
      in_work.pop_front();
      finish(*job, {});
    }
  }
}

// False where the device is lost, with all that it had in work. Another error is the pair's own.
template <class Step>
bool MatcherGroup::State::attempt(Worker& worker, const std::shared_ptr<Job>& job, Jobs& in_work, Step&& step) {
  std::exception_ptr error;
  try {
    step();
    return true;
  } catch (const Error& e) {
    error = std::current_exception();
    if (e.category() == ErrorCategory::device) {
      lose(worker, in_work, error);
      return false;
    }
  } catch (...) {
    error = std::current_exception();
  }
  std::erase(in_work, job);
  finish(*job, error);
  return true;
}

// Moves the oldest pair that waits to those in work. Where none is in work, waits for one; false means the end, then.
bool MatcherGroup::State::take_next(Jobs& in_work) {
  std::unique_lock lock(mutex);
  if (in_work.empty()) changed.wait(lock, [this] { return !waiting.empty() || (stop && unfinished == 0); });
  if (waiting.empty()) return false;
  in_work.splice(in_work.end(), waiting, waiting.begin());
  return true;
}

// Its pairs go back to where they came from, for the others; without any, the error is theirs.
void MatcherGroup::State::lose(Worker& worker, Jobs& in_work, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex);
    worker.lost = true;
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      lost.push_back(lost_device(worker.device.name, e.what()));
    }
    waiting.splice(waiting.begin(), in_work);
    if (!has_device()) {
      last_error = error;
      for (const auto& job : waiting) job->done = true, job->error = error, --unfinished;
      waiting.clear();
    }
  }
  changed.notify_all();
}

void MatcherGroup::State::finish(Job& job, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex);
    job.done = true;
    job.error = error;
    --unfinished;
  }
  changed.notify_all();
}

MatcherGroup::MatcherGroup(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices)
    : state_(std::make_unique<State>(pipeline, problem, devices)) {}
MatcherGroup::~MatcherGroup() { let_go(); }
MatcherGroup::MatcherGroup(MatcherGroup&&) noexcept = default;
MatcherGroup& MatcherGroup::operator=(MatcherGroup&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  state_ = std::move(other.state_);
  return *this;
}

// The workers cannot be waited for in a stage that one of them is running: they keep the memory.
void MatcherGroup::let_go() noexcept {
  if (state_ == nullptr) return;
  State* const state = state_.release();
  std::unique_lock lock(state->mutex);
  if (!state->is_inside()) {
    lock.unlock();
    delete state;
    return;
  }
  state->stop = true;
  state->changed.notify_all();
}

const Plan& MatcherGroup::plan() const { return *state_->workers.front()->plan; }

std::vector<std::string> MatcherGroup::devices() const {
  std::vector<std::string> names;
  for (const auto& worker : state_->workers) names.push_back(worker->plan->device().name);
  return names;
}

std::size_t MatcherGroup::workspace_bytes() const {
  std::size_t bytes = 0;
  for (const auto& worker : state_->workers) bytes += worker->plan->workspace_bytes();
  return bytes;
}

int MatcherGroup::in_flight() const { return state_->in_flight; }

Ticket MatcherGroup::enqueue(const StereoPair& pair, Matched& result) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.enter();
  s.changed.wait(lock, [&] { return s.unfinished < s.in_flight || s.last_error; });
  if (s.last_error) std::rethrow_exception(s.last_error);
  const auto job = std::make_shared<State::Job>(State::Job{s.given, pair, &result});
  State::Jobs one{job};
  s.all.emplace(job->number, job);  // the last that can fail
  s.waiting.splice(s.waiting.end(), one);
  ++s.given;
  ++s.unfinished;
  lock.unlock();
  s.changed.notify_all();
  return {job->number, s.id};
}

void MatcherGroup::wait(Ticket ticket) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.enter();
  s.check(ticket);
  if (ticket == Ticket()) return;
  if (const auto found = s.all.find(ticket.number); found != s.all.end()) {
    const std::shared_ptr<State::Job> job = found->second;
    s.changed.wait(lock, [&] { return job->done; });
    if (job->error) s.failures.keep(ticket.number, ticket.number, job->error);
    s.all.erase(ticket.number);
  }
  s.failures.rethrow(ticket.number);
}

bool MatcherGroup::is_done(Ticket ticket) const {
  const std::lock_guard lock(state_->mutex);
  state_->check(ticket);
  const auto found = state_->all.find(ticket.number);
  return ticket == Ticket() || found == state_->all.end() || found->second->done;
}

Matched MatcherGroup::make_result() const { return page_locked_result(plan()); }

std::vector<LostDevice> MatcherGroup::lost() const {
  const std::lock_guard lock(state_->mutex);
  return state_->lost;
}

}  // namespace stereopsis
