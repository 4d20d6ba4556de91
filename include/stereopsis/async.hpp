// A matcher with its own thread, which returns futures or calls back.
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <memory>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Keeps pairs (up to Problem::batch) in flight on its own thread. Any thread may submit pairs. Pairs finish, and their
// callbacks are called, in the order of submission. If the device is lost (Error(device)), all pairs in flight and all
// later pairs fail with its error.
class AsyncMatcher {
 public:
  // A function that is called on the matcher's thread with the result, or with the error and an empty result. The next
  // pair waits until the callback returns. An exception that the callback throws is ignored. The callback may submit
  // pairs and destroy the matcher. The callback must not wait for the matcher or for a future of the matcher, because
  // later pairs run on the same thread.
  using Callback = std::function<void(Matched, std::exception_ptr)>;

  // Allocates the workspace and starts the thread. Throws the same errors as the constructor of Matcher.
  explicit AsyncMatcher(Plan plan);
  // Waits until all submitted pairs are done and their callbacks have returned. Inside a callback or a user-defined
  // stage of the matcher, the destructor returns at once. The matcher's thread then finishes the submitted pairs, frees
  // all memory and ends. Until the thread has ended, data that the pairs and callbacks use must remain valid, and
  // main() must not return.
  ~AsyncMatcher();
  AsyncMatcher(AsyncMatcher&&) noexcept;
  AsyncMatcher& operator=(AsyncMatcher&&) noexcept;

  const Plan& plan() const;  // the plan that the constructor received
  // Submits a pair. Returns a future of the result, or calls `done` with the result. The images must remain valid until
  // the pair is done; `owner` is kept alive until then.
  std::future<Matched> submit(const StereoPair& pair, std::shared_ptr<const void> owner = {});
  void submit(const StereoPair& pair, Callback done, std::shared_ptr<const void> owner = {});
  // Waits until all pairs submitted earlier are done and their callbacks have returned. Throws Error(call) inside a
  // callback or a user-defined stage of the matcher, where the call would never return.
  void wait();

 private:
  void let_go() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereopsis
