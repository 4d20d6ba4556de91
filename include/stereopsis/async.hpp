// A matcher that works by itself: give it pairs, and have futures, or be called back.
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <memory>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Keeps a batch of pairs in work (Problem::batch), on a thread of its own. Any thread may give pairs; they are done, and told, in the order
// in which they came.
class AsyncMatcher {
 public:
  // Called on the matcher's thread, with the result, or with what went wrong and an empty one. What it throws is lost; the next
  // pair waits until it returns. It may give the matcher more pairs.
  using Callback = std::function<void(Matched, std::exception_ptr)>;

  // Allocates the workspace, and begins its thread. Throws as Matcher does.
  explicit AsyncMatcher(Plan plan);
  // Does what it was given, first.
  ~AsyncMatcher();
  AsyncMatcher(AsyncMatcher&&) noexcept;
  AsyncMatcher& operator=(AsyncMatcher&&) noexcept;

  const Plan& plan() const;  // that it was made of
  // The pair's images must stay until it is done; `owner`, whatever it is, is kept until then.
  std::future<Matched> submit(const StereoPair& pair, std::shared_ptr<const void> owner = {});
  void submit(const StereoPair& pair, Callback done, std::shared_ptr<const void> owner = {});
  // Until all that was given before is done, and told.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereopsis
