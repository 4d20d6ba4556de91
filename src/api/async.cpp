// AsyncMatcher: a single worker whose completions are callbacks.
#include "stereopsis/async.hpp"

#include <array>
#include <utility>

#include "api/workers.hpp"

namespace stereopsis {
namespace {

// The result, callback and owner of a submitted pair, which are kept until the callback has returned.
struct Submission {
  AsyncMatcher::Callback done;
  std::shared_ptr<const void> owner;
  Matched result = {};

  void finish(const std::exception_ptr& error) {
    try {
      done(error ? Matched() : std::move(result), error);
    } catch (...) {  // exceptions of callbacks are ignored, as documented
    }
  }
};

}  // namespace

struct AsyncMatcher::State {
  explicit State(Plan plan)
      : workers(std::array{plan.device()}, [&plan](const Device&) { return Matcher(std::move(plan)); }) {}

  Workers workers;
};

AsyncMatcher::AsyncMatcher(Plan plan) : state_(std::make_unique<State>(std::move(plan))) {}
AsyncMatcher::~AsyncMatcher() { let_go(); }
AsyncMatcher::AsyncMatcher(AsyncMatcher&&) noexcept = default;
AsyncMatcher& AsyncMatcher::operator=(AsyncMatcher&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  state_ = std::move(other.state_);
  return *this;
}

// Callbacks may submit pairs until the last one has returned, so the state remains valid until then.
void AsyncMatcher::let_go() noexcept {
  if (state_ != nullptr) state_->workers.end();
}

const Plan& AsyncMatcher::plan() const { return state_->workers.plan(); }

void AsyncMatcher::submit(const StereoPair& pair, Callback done, std::shared_ptr<const void> owner) {
  if (!done)
    throw Error(ErrorCategory::call,
                "submit() got a pair without a callback; pass a callback, or use the overload that returns a future");
  const auto submission = std::make_shared<Submission>(Submission{std::move(done), std::move(owner)});
  Workers::Jobs jobs;
  jobs.push_back(
      {pair, &submission->result, [submission](const std::exception_ptr& error) { submission->finish(error); }});
  state_->workers.submit(std::move(jobs));
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
  if (state_->workers.is_inside())
    throw Error(ErrorCategory::call,
                "wait() was called inside a callback or a stage of this matcher, and would never return; wait on "
                "another thread, or submit more pairs from the callback");
  state_->workers.wait();
}

}  // namespace stereopsis
