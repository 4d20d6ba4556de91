// A queue between the thread that receives something and the thread that works on it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace stereopsis {

// The rule for an entry that is put into a full queue: the oldest entry is dropped, or the caller waits.
enum class WhenFull { drop_oldest, wait };

// Any thread may call any function.
template <class T>
class LiveQueue {
 public:
  // `most`: largest number of entries that wait; at least 1.
  explicit LiveQueue(std::size_t most = 1, WhenFull when_full = WhenFull::drop_oldest)
      : most_(most == 0 ? 1 : most), when_full_(when_full) {}

  // Adds an entry. Returns the number of entries that were dropped: 0 or 1. In a closed queue, the entry itself is
  // dropped.
  std::size_t put(T entry) {
    std::unique_lock lock(mutex_);
    if (when_full_ == WhenFull::wait) changed_.wait(lock, [&] { return is_closed_ || entries_.size() < most_; });
    std::size_t dropped = is_closed_ ? 1 : 0;
    if (!is_closed_) {
      if (entries_.size() == most_) entries_.pop_front(), dropped = 1;
      entries_.push_back(std::move(entry));
    }
    dropped_ += dropped;
    changed_.notify_all();
    return dropped;
  }
  // Ends the queue: take() returns the entries that wait, and then nothing.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  // Drops the entries that wait. They do not count as dropped.
  void clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    changed_.notify_all();
  }
  // Waits for an entry. Returns nothing after the last entry of a closed queue.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || !entries_.empty(); });
    if (entries_.empty()) return {};
    std::optional<T> entry(std::move(entries_.front()));
    entries_.pop_front();
    changed_.notify_all();
    return entry;
  }
  // Returns whether take() returns without waiting.
  bool is_ready() const {
    const std::lock_guard lock(mutex_);
    return is_closed_ || !entries_.empty();
  }
  // Returns the number of entries that were dropped so far.
  std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  const std::size_t most_;
  const WhenFull when_full_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> entries_;
  std::uint64_t dropped_ = 0;
  bool is_closed_ = false;
};

}  // namespace stereopsis
