// Errors as values, for programs that handle no exceptions. No function here lets an exception escape, whatever is thrown: when
// memory runs out, or when a user-written stage throws something that is not a std::exception.
#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// What went wrong, as Error has it.
struct Failure {
  ErrorCategory category = ErrorCategory::call;  // for programs
  std::string sentence;                          // for people
};

// A value, or why there is none: as std::expected of C++23.
template <class T>
class Expected {
 public:
  // What there is.
  Expected(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  // Why there is nothing.
  Expected(Failure failure) : held_(std::in_place_index<1>, std::move(failure)) {}

  // Whether there is a value.
  bool has_value() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  // Of what is there; else undefined.
  T& value() & noexcept { return *std::get_if<0>(&held_); }
  const T& value() const& noexcept { return *std::get_if<0>(&held_); }
  T&& value() && noexcept { return std::move(*std::get_if<0>(&held_)); }
  T& operator*() & noexcept { return value(); }
  const T& operator*() const& noexcept { return value(); }
  T* operator->() noexcept { return &value(); }
  const T* operator->() const noexcept { return &value(); }
  const Failure& error() const noexcept { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Failure> held_;
};
// Of what gives nothing back.
using Done = Expected<std::monostate>;

// As the constructors and functions of these names, which throw.
Expected<Pipeline> try_pipeline(std::string_view method) noexcept;
Done try_set(Pipeline& pipeline, std::string_view name, std::string_view value) noexcept;
Expected<std::string> try_get(const Pipeline& pipeline, std::string_view name) noexcept;
Expected<Plan> try_plan(const Pipeline& pipeline, const Problem& problem, const Device& device = {}) noexcept;
Expected<Matcher> try_matcher(const Plan& plan) noexcept;
Done try_match(Matcher& matcher, const StereoPair& pair, Matched& result) noexcept;
Done try_match(Matcher& matcher, const StereoPair& pair, const MatchedViews& result) noexcept;
Expected<Ticket> try_enqueue(Matcher& matcher, const StereoPair& pair, Matched& result) noexcept;
Expected<Ticket> try_enqueue(Matcher& matcher, const StereoPair& pair, const MatchedViews& result) noexcept;
Expected<Ticket> try_enqueue(Matcher& matcher, const DevicePair& pair, const DeviceMatched& result,
                             std::optional<std::uint64_t> stream = {}) noexcept;
Done try_wait(Matcher& matcher, Ticket ticket) noexcept;

}  // namespace stereopsis
