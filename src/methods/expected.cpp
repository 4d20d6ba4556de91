#include "stereopsis/expected.hpp"

#include <new>

namespace stereopsis {
namespace {

template <class T>
Expected<T> failed(ErrorCategory category, const char* sentence) {
  return Failure{category, sentence};
}

template <class F>
auto attempt(F&& f) noexcept -> Expected<decltype(f())> {
  using T = decltype(f());
  try {
    return f();
  } catch (const Error& error) {
    return failed<T>(error.category(), error.what());
  } catch (const std::bad_alloc&) {
    return failed<T>(ErrorCategory::memory, "no memory is left");  // as short as needs none
  } catch (const std::exception& error) {
    return failed<T>(ErrorCategory::device, error.what());
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
Expected<Matcher> try_matcher(Plan plan) noexcept {
  return attempt([&] { return Matcher(std::move(plan)); });
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
