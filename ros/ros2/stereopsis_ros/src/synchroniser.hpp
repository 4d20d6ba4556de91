// Pairs left and right messages by their stamps, and counts those that find no partner.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>

namespace stereopsis_ros {

using Stamp = std::int64_t;  // nanoseconds

// Counts of the messages of a topic.
struct TopicCount {
  std::int64_t messages = 0, paired = 0;
  std::int64_t alone = 0;  // without a partner, or with the stamp of the message before
  std::int64_t jumps_back = 0;
  Stamp largest_gap = 0;  // largest time between the stamps of successive messages
  std::optional<Stamp> newest;
};

// A message belongs to at most one pair. No pair spans a jump back of the stamps (a bag is played again): the messages of
// the topic that wait are then dropped.
template <class T>
class Synchroniser {
 public:
  // `tolerance`: largest difference of the stamps of a pair; 0 requires equal stamps. `queue`: number of messages of a
  // topic that wait for a partner.
  Synchroniser(Stamp tolerance, std::size_t queue) : tolerance_(tolerance), queue_(queue) {}

  // Adds a message of the left (0) or right (1) topic. Returns the pair that it completes, with the nearest stamps.
  std::optional<std::array<T, 2>> add(std::size_t side, Stamp stamp, T item) {
    TopicCount& count = counts_[side];
    ++count.messages;
    const auto before = std::exchange(count.newest, stamp);
    if (before == stamp) {
      ++count.alone;
      return {};
    }
    if (before && stamp < *before) ++count.jumps_back, drop(side, waiting_[side].size());
    if (before && stamp - *before > count.largest_gap) count.largest_gap = stamp - *before;
    const auto found = nearest(1 - side, stamp);
    if (!found) {
      if (waiting_[side].size() == queue_) drop(side, 1);
      waiting_[side].emplace_back(stamp, std::move(item));
      return {};
    }
    drop(side, waiting_[side].size());  // these messages are older, and their partners can no longer arrive
    drop(1 - side, *found);
    T other = std::move(waiting_[1 - side].front().second);
    waiting_[1 - side].pop_front();
    for (TopicCount& each : counts_) ++each.paired;
    if (side == 0) return std::array<T, 2>{std::move(item), std::move(other)};
    return std::array<T, 2>{std::move(other), std::move(item)};
  }
  const std::array<TopicCount, 2>& counts() const { return counts_; }  // returns those of the left and the right topic

 private:
  // Returns the index of the message whose stamp is nearest, if it is near enough.
  std::optional<std::size_t> nearest(std::size_t side, Stamp stamp) const {
    std::optional<std::size_t> best;
    Stamp least = tolerance_;
    for (std::size_t i = 0; i < waiting_[side].size(); ++i)
      if (const Stamp apart = std::abs(waiting_[side][i].first - stamp); best ? apart < least : apart <= least)
        best = i, least = apart;
    return best;
  }
  void drop(std::size_t side, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) waiting_[side].pop_front();
    counts_[side].alone += static_cast<std::int64_t>(count);
  }

  Stamp tolerance_;
  std::size_t queue_;
  std::array<std::deque<std::pair<Stamp, T>>, 2> waiting_;
  std::array<TopicCount, 2> counts_;
};

}  // namespace stereopsis_ros
