// A matcher with a thread of its own, which returns futures or calls back.
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <memory>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Keeps a batch of pairs (Problem::batch) in flight on a thread of its own. Any thread may submit pairs. Pairs finish,
// and their callbacks are called, in the order of submission. If the device is lost (Error(device)), all pairs in
// flight and all later pairs fail with its error.
class AsyncMatcher {
 public:
  // A function that is called on the matcher's thread with the result, or with the error and an empty result. The next
  // pair waits until it returns. An exception that it throws is ignored. It may submit pairs and destroy the matcher.
  // It must not wait for the matcher or for one of its futures, because later pairs run on the same thread.
  using Callback = std::function<void(Matched, std::exception_ptr)>;

  // Allocates the workspace and starts the thread. Throws the same errors as the constructor of Matcher.
  explicit AsyncMatcher(Plan plan);
  // Waits until all submitted pairs are done and their callbacks have returned. Inside a callback or a user-defined
  // stage of the matcher, the destructor returns at once: the matcher's thread finishes these pairs, frees all memory
  // and ends. The data that the pairs and callbacks use must remain valid until then, and main() must not return
  // before.
  ~AsyncMatcher();
  AsyncMatcher(AsyncMatcher&&) noexcept;
  AsyncMatcher& operator=(AsyncMatcher&&) noexcept;

  const Plan& plan() const;  // the constructor's plan
  // Submits a pair, and returns a future of its result, or calls `done` with it. The images must remain valid until the
  // pair is done; `owner` is kept alive until then.
  std::future<Matched> submit(const StereoPair& pair, std::shared_ptr<const void> owner = {});
  void submit(const StereoPair& pair, Callback done, std::shared_ptr<const void> owner = {});
  // Waits until all pairs submitted before are done and their callbacks have returned. Throws Error(call) inside a
  // callback or a user-defined stage of the matcher, where it would wait for itself.
  void wait();

 private:
  void let_go() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereopsis
