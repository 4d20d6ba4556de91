#include "stereopsis/matcher_group.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "methods/results.hpp"

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
  using Jobs = std::deque<std::shared_ptr<Job>>;

  // A device and its thread.
  struct Worker {
    Device device;
    std::optional<Plan> plan;
    std::exception_ptr error;  // of its beginning
    bool ready = false, lost = false;
    std::thread thread;
  };

  State(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices);
  ~State() { end(); }

  void run(Worker&, const Pipeline&, const Problem&);
  void work(Worker&, Matcher&);
  std::shared_ptr<Job> next(bool has_others);
  bool attempt(Worker&, Job&, Jobs& in_work, const std::function<void()>& step);
  void lose(Worker&, Jobs& in_work, std::exception_ptr error);
  void finish(Job&, std::exception_ptr error);
  void end();
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
  for (const Device& device : devices) workers.push_back(std::make_unique<Worker>(Worker{device, {}, {}, {}, {}, {}}));
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
  }
  changed.notify_all();
  if (matcher) work(worker, *matcher);
}

// Begins pairs as they come, up to a batch of them, and ends the oldest where there is no more to begin.
void MatcherGroup::State::work(Worker& worker, Matcher& matcher) {
  Jobs in_work;
  const auto batch = static_cast<std::size_t>(matcher.plan().problem().batch);
  for (;;) {
    std::shared_ptr<Job> job = in_work.size() < batch ? next(!in_work.empty()) : nullptr;
    if (job == nullptr && in_work.empty()) return;
    if (job != nullptr) {
      in_work.push_back(job);
      if (!attempt(worker, *job, in_work, [&] { job->ticket = matcher.enqueue(job->pair, *job->result); })) return;
      continue;
    }
    job = in_work.front();
    if (!attempt(worker, *job, in_work, [&] { matcher.wait(job->ticket); })) return;
    if (!in_work.empty() && in_work.front() == job) {
      in_work.pop_front();
      finish(*job, {});
    }
  }
}

// False where the device is lost, with all that it had in work. Another error is the pair's own.
bool MatcherGroup::State::attempt(Worker& worker, Job& job, Jobs& in_work, const std::function<void()>& step) {
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
  std::erase_if(in_work, [&](const auto& other) { return other.get() == &job; });
  finish(job, error);
  return true;
}

// The oldest pair that waits. With nothing else to do it is waited for; none means the end, then.
std::shared_ptr<MatcherGroup::State::Job> MatcherGroup::State::next(bool has_others) {
  std::unique_lock lock(mutex);
  if (!has_others) changed.wait(lock, [this] { return !waiting.empty() || (stop && unfinished == 0); });
  if (waiting.empty()) return nullptr;
  std::shared_ptr<Job> job = std::move(waiting.front());
  waiting.pop_front();
  return job;
}

// Its pairs go back to where they came from, for the others; without any, the error is theirs.
void MatcherGroup::State::lose(Worker& worker, Jobs& in_work, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex);
    worker.lost = true;
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      lost.push_back({worker.device.name, e.what()});
    }
    waiting.insert(waiting.begin(), in_work.begin(), in_work.end());
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
MatcherGroup::~MatcherGroup() = default;
MatcherGroup::MatcherGroup(MatcherGroup&&) noexcept = default;
MatcherGroup& MatcherGroup::operator=(MatcherGroup&&) noexcept = default;

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
  s.changed.wait(lock, [&] { return s.unfinished < s.in_flight || s.last_error; });
  if (s.last_error) std::rethrow_exception(s.last_error);
  const auto job = std::make_shared<State::Job>(State::Job{s.given++, pair, &result});
  s.all[job->number] = job;
  s.waiting.push_back(job);
  ++s.unfinished;
  lock.unlock();
  s.changed.notify_all();
  return {job->number, s.id};
}

void MatcherGroup::wait(Ticket ticket) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  if (ticket.matcher != s.id || ticket.number >= s.given)
    throw Error(ErrorCategory::call, "a ticket is not of this group; wait with the one that gave it");
  const auto found = s.all.find(ticket.number);
  if (found == s.all.end()) return;
  const std::shared_ptr<State::Job> job = found->second;
  s.changed.wait(lock, [&] { return job->done; });
  s.all.erase(ticket.number);
  if (job->error) std::rethrow_exception(job->error);
}

bool MatcherGroup::is_done(Ticket ticket) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->all.find(ticket.number);
  return found == state_->all.end() || found->second->done;
}

Matched MatcherGroup::make_result() const { return page_locked_result(plan()); }

std::vector<LostDevice> MatcherGroup::lost() const {
  const std::lock_guard lock(state_->mutex);
  return state_->lost;
}

}  // namespace stereopsis
