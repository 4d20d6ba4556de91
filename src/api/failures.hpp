// The errors of failed pairs, by the number of the pair. Matcher and MatcherGroup throw these errors in wait().
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>

namespace stereopsis {

class Failures {
 public:
  // Keeps the error of the pairs `first` to `last`.
  void keep(std::uint64_t first, std::uint64_t last, const std::exception_ptr& error) {
    errors_.try_emplace(last, Failure{first, error, false});
  }

  // Throws the error of a pair that failed. An error can be thrown again until `most_told` newer errors have been
  // thrown. The limit keeps the memory of matchers that run for months constant.
  void rethrow(std::uint64_t number) {
    const auto found = errors_.lower_bound(number);
    if (found == errors_.end() || number < found->second.first) return;
    const std::exception_ptr error = found->second.error;
    if (!found->second.told) count_told(found->second);
    std::rethrow_exception(error);
  }

 private:
  struct Failure {
    std::uint64_t first = 0;
    std::exception_ptr error;
    bool told = false;
  };

  static constexpr int most_told = 1024;

  void count_told(Failure& failure) {
    failure.told = true;
    if (++told_ <= most_told) return;
    errors_.erase(std::ranges::find_if(errors_, [](const auto& entry) { return entry.second.told; }));
    --told_;
  }

  std::map<std::uint64_t, Failure> errors_;  // by the number of the last pair that the error belongs to
  int told_ = 0;
};

}  // namespace stereopsis
