// Notes about faulty messages: the first one of each kind is logged, and the others are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace stereopsis_ros {

// Any thread may call any function.
class Notes {
 public:
  explicit Notes(std::function<void(const std::string&)> warn) : warn_(std::move(warn)) {}

  // Logs the sentence if it is the first of its kind. `kind` is a short text that the diagnostics show.
  void note(const std::string& kind, const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    if (++counts_[kind] > 1) return;
    newest_ = kind;
    warn_(sentence);
  }
  // Logs a sentence that is no fault of a message.
  void log(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    warn_(sentence);
  }
  std::map<std::string, std::int64_t> counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  std::string newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }

 private:
  std::function<void(const std::string&)> warn_;
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> counts_;
  std::string newest_;  // the kind that was first noted last
};

}  // namespace stereopsis_ros
