#include "stereopsis/async.hpp"

#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/text.hpp"

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

  using Jobs = std::list<Job>;  // moved from list to list, so that the runner never allocates: nobody could be told

  explicit State(Plan plan) : matcher(std::move(plan)) { start(); }
  ~State() {
    if (!runner.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    runner.join();
  }

  // Returns whether the caller is a callback or a user-written stage of the matcher, for which the runner waits.
  bool is_inside() const { return std::this_thread::get_id() == runner.get_id() || matcher.is_in_own_stage(); }
  void give(Job job) {
    Jobs one;
    one.push_back(std::move(job));
    {
      const std::lock_guard lock(mutex);
      waiting.splice(waiting.end(), one);
      ++given;
    }
    changed.notify_all();
  }

  void start();
  void run();
  void work();
  bool take_next(Jobs& in_work);
  void begin(Job&);
  void end(Job&);

  Matcher matcher;
  std::mutex mutex;
  std::condition_variable changed;
  Jobs waiting;
  std::uint64_t given = 0, told = 0;
  bool stop = false;
  std::unique_ptr<State> self;  // where the matcher was destroyed inside: the runner destroys it
  std::thread runner;           // last: it works with all the others
};

void AsyncMatcher::State::start() try {
  runner = std::thread([this] { run(); });
} catch (const std::system_error& e) {
  throw Error(ErrorCategory::unsupported,
              text("the system gives no thread for the matcher (", e.code().message(),
                   "); end other threads, or raise the limits of processes and memory (ulimit -u, ulimit -v)"));
}

void AsyncMatcher::State::run() {
  work();
  const std::unique_ptr<State> last = std::move(self);
}

// Begins pairs as they come, up to a batch of them, and ends the oldest where there is no more to begin.
void AsyncMatcher::State::work() {
  Jobs in_work;
  const auto batch = static_cast<std::size_t>(matcher.plan().problem().batch);
  for (;;) {
    if (in_work.size() < batch) {
      if (take_next(in_work)) {
        begin(in_work.back());
        continue;
      }
      if (in_work.empty()) return;
    }
    end(in_work.front());
    in_work.pop_front();
    {
      const std::lock_guard lock(mutex);
      ++told;
    }
    changed.notify_all();
  }
}

// Moves the oldest pair that waits to those in work. Where none is in work, waits for one; false means the end, then.
bool AsyncMatcher::State::take_next(Jobs& in_work) {
  std::unique_lock lock(mutex);
  if (in_work.empty()) changed.wait(lock, [this] { return stop || !waiting.empty(); });
  if (waiting.empty()) return false;
  in_work.splice(in_work.end(), waiting, waiting.begin());
  return true;
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
AsyncMatcher::~AsyncMatcher() { let_go(); }
AsyncMatcher::AsyncMatcher(AsyncMatcher&&) noexcept = default;
AsyncMatcher& AsyncMatcher::operator=(AsyncMatcher&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  state_ = std::move(other.state_);
  return *this;
}

void AsyncMatcher::let_go() noexcept {
  if (state_ == nullptr || !state_->is_inside()) return state_.reset();
  State& state = *state_;
  state.runner.detach();
  const std::lock_guard lock(state.mutex);
  state.stop = true;
  state.self = std::move(state_);
}

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
  if (state_->is_inside())
    throw Error(ErrorCategory::call,
                "the matcher is waited for inside one of its callbacks or stages, which would never end; wait on another "
                "thread, or submit more pairs from the callback");
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this, until = state_->given] { return state_->told >= until; });
}

}  // namespace stereopsis
