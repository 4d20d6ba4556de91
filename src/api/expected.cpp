#include "stereopsis/expected.hpp"

#include <new>

namespace stereopsis {
namespace {

// If there is no memory for the sentence, the sentence becomes "out of memory". This text is so short that a string
// holds it without allocating.
Failure failure(ErrorCategory category, const char* sentence) noexcept {
  try {
    return {category, sentence};
  } catch (...) {
    return {ErrorCategory::memory, "out of memory"};
  }
}

template <class F>
auto attempt(F&& f) noexcept -> Expected<decltype(f())> {
  try {
    return f();
  } catch (const Error& error) {
    return failure(error.category(), error.what());
  } catch (const std::bad_alloc&) {
    return failure(ErrorCategory::memory,
                   "the host is out of memory; match smaller images or regions, or set a memory limit");
  } catch (const std::exception& error) {
    return failure(ErrorCategory::device, error.what());
  } catch (...) {
    return failure(ErrorCategory::call,
                   "a function that the library called threw an object that is not a std::exception; throw "
                   "stereopsis::Error or another std::exception");
  }
}

template <class F>
Done attempt_all(F&& f) noexcept {
  return attempt([&] {
    f();
    return std::monostate();
  });
}

}  // namespace

Expected<Pipeline> try_pipeline(std::string_view method) noexcept {
  return attempt([&] { return Pipeline(method); });
}
Done try_set(Pipeline& pipeline, std::string_view name, std::string_view value) noexcept {
  return attempt_all([&] { pipeline.set(name, value); });
}
Expected<std::string> try_get(const Pipeline& pipeline, std::string_view name) noexcept {
  return attempt([&] { return pipeline.get(name); });
}
Expected<Plan> try_plan(const Pipeline& pipeline, const Problem& problem, const Device& device) noexcept {
  return attempt([&] { return Plan(pipeline, problem, device); });
}
Expected<Matcher> try_matcher(const Plan& plan) noexcept {
  return attempt([&] { return Matcher(plan); });
}
Done try_match(Matcher& matcher, const StereoPair& pair, Matched& result) noexcept {
  return attempt_all([&] { matcher.match(pair, result); });
}
Done try_match(Matcher& matcher, const StereoPair& pair, const MatchedViews& result) noexcept {
  return attempt_all([&] { matcher.match(pair, result); });
}
Expected<Ticket> try_enqueue(Matcher& matcher, const StereoPair& pair, Matched& result) noexcept {
  return attempt([&] { return matcher.enqueue(pair, result); });
}
Expected<Ticket> try_enqueue(Matcher& matcher, const StereoPair& pair, const MatchedViews& result) noexcept {
  return attempt([&] { return matcher.enqueue(pair, result); });
}
Expected<Ticket> try_enqueue(Matcher& matcher, const DevicePair& pair, const DeviceMatched& result,
                             std::optional<std::uint64_t> stream) noexcept {
  return attempt([&] { return matcher.enqueue(pair, result, stream); });
}
Done try_wait(Matcher& matcher, Ticket ticket) noexcept {
  return attempt_all([&] { matcher.wait(ticket); });
}

}  // namespace stereopsis
