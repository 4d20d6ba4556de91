#include "stereopsis/async.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace stereopsis {

struct AsyncMatcher::State {
  struct Job {
    StereoPair pair;
    Callback done;
    std::shared_ptr<const void> owner;
    Matched result;
    Ticket ticket;
    std::exception_ptr error;
  };

  explicit State(Plan plan) : matcher(std::move(plan)), runner([this] { run(); }) {}
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    runner.join();
  }

  void give(Job job) {
    {
      const std::lock_guard lock(mutex);
      waiting.push_back(std::make_unique<Job>(std::move(job)));
      ++given;
    }
    changed.notify_all();
  }

  void run();
  std::unique_ptr<Job> next(bool has_others);
  void begin(Job&);
  void end(Job&);

  Matcher matcher;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<Job>> waiting;
  std::uint64_t given = 0, told = 0;
  bool stop = false;
  std::thread runner;  // last: it works with all the others
};

// Begins pairs as they come, up to a batch of them, and ends the oldest where there is no more to begin.
void AsyncMatcher::State::run() {
  std::deque<std::unique_ptr<Job>> in_work;
  const auto batch = static_cast<std::size_t>(matcher.plan().problem().batch);
  for (;;) {
    if (in_work.size() < batch) {
      if (std::unique_ptr<Job> job = next(!in_work.empty())) {
        begin(*job);
        in_work.push_back(std::move(job));
        continue;
      }
      if (in_work.empty()) return;
    }
    end(*in_work.front());
    in_work.pop_front();
    {
      const std::lock_guard lock(mutex);
      ++told;
    }
    changed.notify_all();
  }
}

// The next one that waits. With nothing else to do it is waited for; none means the end, then.
std::unique_ptr<AsyncMatcher::State::Job> AsyncMatcher::State::next(bool has_others) {
  std::unique_lock lock(mutex);
  if (!has_others) changed.wait(lock, [this] { return stop || !waiting.empty(); });
  if (waiting.empty()) return nullptr;
  std::unique_ptr<Job> job = std::move(waiting.front());
  waiting.pop_front();
  return job;
}

void AsyncMatcher::State::begin(Job& job) {
  try {
    job.ticket = matcher.enqueue(job.pair, job.result);
  } catch (...) {
    job.error = std::current_exception();
  }
}

void AsyncMatcher::State::end(Job& job) {
  try {
    if (!job.error) matcher.wait(job.ticket);
  } catch (...) {
    job.error = std::current_exception();
  }
  try {
    job.done(job.error ? Matched() : std::move(job.result), job.error);
  } catch (...) {  // the callback's own
  }
}

AsyncMatcher::AsyncMatcher(Plan plan) : state_(std::make_unique<State>(std::move(plan))) {}
AsyncMatcher::~AsyncMatcher() = default;
AsyncMatcher::AsyncMatcher(AsyncMatcher&&) noexcept = default;
AsyncMatcher& AsyncMatcher::operator=(AsyncMatcher&&) noexcept = default;

const Plan& AsyncMatcher::plan() const { return state_->matcher.plan(); }

void AsyncMatcher::submit(const StereoPair& pair, Callback done, std::shared_ptr<const void> owner) {
  if (!done)
    throw Error(ErrorCategory::call, "a pair is given without a function to call back; give one, or take the future");
  state_->give({pair, std::move(done), std::move(owner), {}, {}, {}});
}

std::future<Matched> AsyncMatcher::submit(const StereoPair& pair, std::shared_ptr<const void> owner) {
  const auto promise = std::make_shared<std::promise<Matched>>();
  std::future<Matched> future = promise->get_future();
  submit(
      pair,
      [promise](Matched result, std::exception_ptr error) {
        if (error)
          promise->set_exception(error);
        else
          promise->set_value(std::move(result));
      },
      std::move(owner));
  return future;
}

void AsyncMatcher::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this, until = state_->given] { return state_->told >= until; });
}

}  // namespace stereopsis
