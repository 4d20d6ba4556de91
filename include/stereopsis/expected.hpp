// Errors as values, for programs without exceptions. No exception leaves these functions. This also holds for
// std::bad_alloc, and for objects other than std::exception that a user-defined stage throws.
#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// An error: the category and the message of an Error.
struct Failure {
  ErrorCategory category = ErrorCategory::call;  // category of the error, for programs
  std::string sentence;                          // message, for users
};

// A value or an error, like std::expected of C++23.
template <class T>
class Expected {
 public:
  // Constructs a value.
  Expected(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  // Constructs an error.
  Expected(Failure failure) : held_(std::in_place_index<1>, std::move(failure)) {}

  // Returns true if there is a value.
  bool has_value() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  // Return the value or the error. The behaviour is undefined if there is no value or no error, respectively.
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
// The result of a function that returns nothing.
using Done = Expected<std::monostate>;

// Each function calls the constructor or function of the same name, and returns errors instead of throwing them.
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
