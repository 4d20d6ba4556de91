// Judges the messages, pairs and results of the node for its diagnostics.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <diagnostic_msgs/msg/diagnostic_status.hpp>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "notes.hpp"
#include "synchroniser.hpp"

namespace stereopsis_ros {

// Counts of pairs. One thread at a time may use the object.
class Health {
 public:
  // `topics`: names of the image topics in messages.
  Health(std::array<std::string, 2> topics, std::function<void(const std::string&)> warn);

  void restart();  // forgets the past, when the node begins to receive messages
  void lose(std::size_t side, std::int64_t count) { lost_[side] += count; }  // the middleware lost messages
  void receive_pair(std::size_t skipped) { ++pairs_, skipped_ += static_cast<std::int64_t>(skipped); }
  // `busy`: time that the pair took; `age`: time from its stamp until its results were sent; both in seconds.
  void finish_pair(double busy, double age);

  // Returns the status since the last one. `left_out`: number of pairs that could not be matched.
  diagnostic_msgs::msg::DiagnosticStatus status(const std::array<TopicCount, 2>& counts, const Notes& notes,
                                                std::int64_t left_out);

 private:
  using Clock = std::chrono::steady_clock;
  struct Totals {
    std::array<std::int64_t, 2> messages{}, alone{}, lost{};
    std::int64_t pairs = 0, matched = 0, skipped = 0;
  };
  struct Finding {
    std::uint8_t level;
    std::string message;
  };

  void add_counts(diagnostic_msgs::msg::DiagnosticStatus& to, const std::array<TopicCount, 2>& counts,
                  std::int64_t left_out);
  std::vector<Finding> silences(const std::array<TopicCount, 2>& counts, Clock::time_point now) const;
  std::vector<Finding> losses(const Totals& totals);

  std::array<std::string, 2> topics_;
  std::function<void(const std::string&)> warn_;
  std::set<std::string> warned_;
  std::int64_t pairs_ = 0, matched_ = 0, skipped_ = 0;
  std::array<std::int64_t, 2> lost_{};
  double busy_ = 0;
  std::vector<double> ages_;
  std::deque<std::pair<Clock::time_point, Totals>> past_;
};

}  // namespace stereopsis_ros
