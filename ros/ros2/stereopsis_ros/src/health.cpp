#include "health.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace stereopsis_ros {
namespace {

using diagnostic_msgs::msg::DiagnosticStatus;

constexpr double warns = 0.05, errs = 0.30;  // shares of messages or pairs that are lost
constexpr std::int64_t fewest = 20;          // messages in the window, with fewer of which no share is judged
constexpr std::chrono::seconds window(10), silence(5);
constexpr const char* advice =
    "images are lost between the processes of the cameras and this node. Compose them in one process; or, with Fast "
    "DDS, "
    "give all of these processes a larger segment of shared memory: set FASTRTPS_DEFAULT_PROFILES_FILE (from ROS 2 "
    "Kilted "
    "on: FASTDDS_DEFAULT_PROFILES_FILE) to share/stereopsis_ros/fastdds.xml; or publish smaller images, or reliably, "
    "with "
    "qos_overrides that request the same here";
constexpr const char* slow =
    "matching takes longer than the time between pairs; choose a faster method or device, a smaller search range, or "
    "smaller images";

std::string text(const char* format, double value) {
  char made[64];
  std::snprintf(made, sizeof made, format, value);
  return made;
}

void add(DiagnosticStatus& to, const std::string& key, const std::string& value) {
  auto& entry = to.values.emplace_back();
  entry.key = key, entry.value = value;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole >= fewest ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

Health::Health(std::array<std::string, 2> topics, std::function<void(const std::string&)> warn)
    : topics_(std::move(topics)), warn_(std::move(warn)) {
  restart();
}

void Health::restart() {
  pairs_ = matched_ = skipped_ = 0;
  lost_ = {};
  busy_ = 0;
  ages_.clear();
  past_ = {{Clock::now(), Totals()}};
}

void Health::finish_pair(double busy, double age) {
  ++matched_;
  busy_ += busy;
  ages_.push_back(age);
}

DiagnosticStatus Health::status(const std::array<TopicCount, 2>& counts, const Notes& notes, std::int64_t left_out) {
  const auto now = Clock::now();
  const Totals totals{
      {counts[0].messages, counts[1].messages}, {counts[0].alone, counts[1].alone}, lost_, pairs_, matched_, skipped_};
  const double seconds = std::max(1e-9, std::chrono::duration<double>(now - past_.back().first).count());
  const double rate = static_cast<double>(matched_ - past_.back().second.matched) / seconds;
  DiagnosticStatus made;
  add(made, "pairs per second", text("%.2f", rate));
  add(made, "busy", text("%.0f %%", 100 * busy_ / seconds));
  add_counts(made, counts, left_out);
  const auto noted = notes.counts();
  for (const auto& [kind, count] : noted) add(made, kind, std::to_string(count));
  busy_ = 0;
  ages_.clear();
  past_.emplace_back(now, totals);
  while (now - past_.front().first > window && past_.size() > 2) past_.pop_front();
  std::vector<Finding> found = silences(counts, now);
  for (Finding& one : losses(totals)) found.push_back(std::move(one));
  if (!noted.empty()) found.push_back({DiagnosticStatus::WARN, notes.newest()});
  const auto gravest = std::max_element(found.begin(), found.end(),
                                        [](const Finding& a, const Finding& b) { return a.level < b.level; });
  made.level = found.empty() ? DiagnosticStatus::OK : gravest->level;
  made.message = found.empty() ? text("%.1f pairs a second", rate) : gravest->message;
  return made;
}

void Health::add_counts(DiagnosticStatus& to, const std::array<TopicCount, 2>& counts, std::int64_t left_out) {
  add(to, "pairs received", std::to_string(pairs_));
  add(to, "pairs matched", std::to_string(matched_));
  add(to, "pairs skipped for newer ones", std::to_string(skipped_));
  add(to, "pairs left out", std::to_string(left_out));
  for (std::size_t i : {0U, 1U}) {
    const std::string side = i == 0 ? "left" : "right";
    add(to, side + " messages", std::to_string(counts[i].messages));
    add(to, side + " matched", std::to_string(counts[i].paired));
    add(to, side + " without a partner", std::to_string(counts[i].alone));
    add(to, side + " lost on the way", std::to_string(lost_[i]));
    add(to, side + " largest gap", text("%.3f s", static_cast<double>(counts[i].largest_gap) * 1e-9));
    add(to, side + " jumps back", std::to_string(counts[i].jumps_back));
  }
  if (ages_.empty()) return;
  std::sort(ages_.begin(), ages_.end());
  add(to, "median age of results", text("%.3f s", ages_[ages_.size() / 2]));
  add(to, "largest age of results", text("%.3f s", ages_.back()));
}

// Finds topics from which nothing came for some seconds, and stamps that differ.
std::vector<Health::Finding> Health::silences(const std::array<TopicCount, 2>& counts, Clock::time_point now) const {
  if (counts[0].messages && counts[1].messages && !counts[0].paired)
    return {{DiagnosticStatus::ERROR, "both sides send, but no stamps are alike; is approximate_sync needed?"}};
  const auto earlier =
      std::find_if(past_.rbegin(), past_.rend(), [&](const auto& one) { return one.first <= now - silence; });
  if (earlier == past_.rend()) return {};
  std::string silent;
  for (std::size_t i : {0U, 1U})
    if (counts[i].messages == earlier->second.messages[i]) silent += (silent.empty() ? "" : " and ") + topics_[i];
  if (silent.empty()) return {};
  return {{DiagnosticStatus::ERROR,
           "no message on " + silent + " for " + std::to_string(silence.count()) + " s; does the camera publish?"}};
}

std::vector<Health::Finding> Health::losses(const Totals& totals) {
  struct Loss {
    double share;
    std::string what;
    const char* advice;
  };
  std::vector<Loss> all;
  const Totals& before = past_.front().second;
  for (std::size_t i : {0U, 1U}) {
    const auto lost = totals.lost[i] - before.lost[i], alone = totals.alone[i] - before.alone[i];
    all.push_back({share(std::max(lost, alone), totals.messages[i] - before.messages[i] + lost),
                   std::string("of the ") + (i == 0 ? "left" : "right") + " images are lost or have no partner",
                   advice});
  }
  // Pairs are skipped while the first one is prepared.
  const auto prepared =
      std::find_if(past_.begin(), std::prev(past_.end()), [](const auto& one) { return one.second.matched > 0; });
  all.push_back({share(totals.skipped - prepared->second.skipped, totals.pairs - prepared->second.pairs),
                 "of the pairs are skipped, because newer ones arrive while a pair is matched", slow});
  std::vector<Finding> found;
  for (const Loss& loss : all) {
    if (loss.share < warns) continue;
    const std::string sentence = text("%.0f %% ", 100 * loss.share) + loss.what;
    found.push_back({loss.share >= errs ? DiagnosticStatus::ERROR : DiagnosticStatus::WARN, sentence});
    if (warned_.insert(loss.advice).second) warn_(sentence + ": " + loss.advice);
  }
  return found;
}

}  // namespace stereopsis_ros
