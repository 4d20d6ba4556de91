// A matcher that works by itself: give it pairs, and have futures, or be called back.
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <memory>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Keeps a batch of pairs in flight (Problem::batch), on a thread of its own. Any thread may submit pairs; they are done,
// and their callbacks called, in the order in which they were submitted. If the device is lost (Error(device)), the pairs
// in flight and all later ones get its error.
class AsyncMatcher {
 public:
  // Called on the matcher's thread, with the result, or with the error and an empty result. What it throws is lost; the next
  // pair waits until it returns. It may submit more pairs and destroy the matcher. It must not wait for the matcher, or for a future
  // of it, since later pairs are done on this thread.
  using Callback = std::function<void(Matched, std::exception_ptr)>;

  // Allocates the workspace, and begins its thread. Throws as Matcher does.
  explicit AsyncMatcher(Plan plan);
  // Waits until all pairs that were submitted are done, and their callbacks have returned. In a callback, or in a user-written stage
  // of the matcher, it does not wait: it returns at once, and the matcher's thread goes on until these pairs are done, then frees
  // all memory and ends. What the pairs and callbacks use must stay until then; main() must not return before.
  ~AsyncMatcher();
  AsyncMatcher(AsyncMatcher&&) noexcept;
  AsyncMatcher& operator=(AsyncMatcher&&) noexcept;

  const Plan& plan() const;  // that it was made of
  // The pair's images must stay until it is done; `owner`, whatever it is, is kept until then.
  std::future<Matched> submit(const StereoPair& pair, std::shared_ptr<const void> owner = {});
  void submit(const StereoPair& pair, Callback done, std::shared_ptr<const void> owner = {});
  // Waits until all pairs that were submitted before are done, and their callbacks have returned. Throws Error(call) in a callback
  // and in a user-written stage of the matcher, where it would wait for itself.
  void wait();

 private:
  void let_go() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereopsis
