// MatcherGroup: one worker per device, and tickets for waiting.
#include "stereopsis/matcher_group.hpp"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "api/failures.hpp"
#include "api/results.hpp"
#include "api/workers.hpp"

namespace stereopsis {
namespace {

// The pairs of a group, which the completion functions share. The group may be destroyed inside one of its stages, so
// the functions keep this state alive.
struct Pairs {
  struct Outcome {
    bool done = false;
    std::exception_ptr error = {};
  };

  void finish(std::uint64_t number, const std::exception_ptr& error) {
    {
      const std::lock_guard lock(mutex);
      open.at(number) = {true, error};
      --unfinished;
    }
    changed.notify_all();
  }

  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::map<std::uint64_t, Outcome> open;  // the pairs, by number, for which no wait() has been called
  Failures failures;                      // errors of pairs for which wait() has been called
  std::uint64_t given = 0;
  int unfinished = 0;
};

}  // namespace

struct MatcherGroup::State {
  State(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices)
      : workers(devices, [&](const Device& device) { return Matcher(Plan(pipeline, problem, device)); }) {}

  // Throws if the caller is a stage that the group is running.
  void enter() const {
    if (workers.is_inside())
      throw Error(ErrorCategory::call,
                  "the group of matchers was called inside a stage that it runs; use another matcher in the stage, or "
                  "use the group after the stage has returned");
  }
  // Throws if the ticket is from another group or from a matcher. A default-constructed ticket counts as done. The
  // caller must hold the mutex.
  void check(Ticket ticket) const {
    if (ticket != Ticket() && (ticket.matcher != id || ticket.number >= pairs->given))
      throw Error(ErrorCategory::call,
                  "the ticket belongs to another group; wait with the group that returned the ticket");
  }

  // Numbers of groups; matchers count from 1, so the numbers differ.
  static inline std::atomic<std::uint64_t> groups = std::uint64_t{1} << 63;
  const std::uint64_t id = ++groups;
  const std::shared_ptr<Pairs> pairs = std::make_shared<Pairs>();
  Workers workers;
};

MatcherGroup::MatcherGroup(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices)
    : state_(std::make_unique<State>(pipeline, problem, devices)) {}
MatcherGroup::~MatcherGroup() { let_go(); }
MatcherGroup::MatcherGroup(MatcherGroup&&) noexcept = default;
MatcherGroup& MatcherGroup::operator=(MatcherGroup&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  state_ = std::move(other.state_);
  return *this;
}

// Stages may use the group until the last stage has returned, so the state remains valid until then.
void MatcherGroup::let_go() noexcept {
  if (state_ != nullptr) state_->workers.end();
}

const Plan& MatcherGroup::plan() const { return state_->workers.plan(); }

std::vector<std::string> MatcherGroup::devices() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < state_->workers.size(); ++i) names.push_back(state_->workers.plan(i).device().name);
  return names;
}

std::size_t MatcherGroup::workspace_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < state_->workers.size(); ++i) bytes += state_->workers.plan(i).workspace_bytes();
  return bytes;
}

int MatcherGroup::in_flight() const { return (plan().problem().batch + 1) * static_cast<int>(state_->workers.size()); }

Ticket MatcherGroup::enqueue(const StereoPair& pair, Matched& result) {
  state_->enter();
  const std::shared_ptr<Pairs> pairs = state_->pairs;  // a stage may destroy the group before this returns
  std::unique_lock lock(pairs->mutex);
  pairs->changed.wait(lock, [&] { return pairs->unfinished < in_flight(); });
  if (const std::exception_ptr error = state_->workers.error()) std::rethrow_exception(error);
  const Ticket ticket{pairs->given, state_->id};
  Workers::Jobs jobs;
  jobs.push_back(
      {pair, &result, [pairs, ticket](const std::exception_ptr& error) { pairs->finish(ticket.number, error); }});
  pairs->open.emplace(ticket.number, Pairs::Outcome());  // the lines after this one cannot throw
  ++pairs->given;
  ++pairs->unfinished;
  state_->workers.submit(std::move(jobs));
  return ticket;
}

void MatcherGroup::wait(Ticket ticket) {
  state_->enter();
  Pairs& pairs = *state_->pairs;
  std::unique_lock lock(pairs.mutex);
  state_->check(ticket);
  if (ticket == Ticket()) return;
  auto found = pairs.open.end();
  pairs.changed.wait(lock, [&] {
    found = pairs.open.find(ticket.number);
    return found == pairs.open.end() || found->second.done;
  });
  if (found != pairs.open.end()) {
    if (found->second.error) pairs.failures.keep(ticket.number, ticket.number, found->second.error);
    pairs.open.erase(found);
  }
  pairs.failures.rethrow(ticket.number);
}

bool MatcherGroup::is_done(Ticket ticket) const {
  const std::lock_guard lock(state_->pairs->mutex);
  state_->check(ticket);
  const auto found = state_->pairs->open.find(ticket.number);
  return ticket == Ticket() || found == state_->pairs->open.end() || found->second.done;
}

Matched MatcherGroup::make_result() const { return page_locked_result(plan()); }

std::vector<LostDevice> MatcherGroup::lost() const { return state_->workers.lost(); }

}  // namespace stereopsis
