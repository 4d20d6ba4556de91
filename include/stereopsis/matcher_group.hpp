// Several devices that share one stream of pairs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// One or several devices by their names with commas between ("cuda:0,cuda:1"); cuda:* and opencl:* are all that can be used.
// What else `device` says holds for each. Throws as resolve_device does, and Error(call) for a device that comes twice.
std::vector<Device> devices_of(const Device& device);

// A device that failed while others went on, and what it said.
struct LostDevice {
  std::string name;  // as devices() lists it
  std::string why;   // the sentence of its error
};

// A matcher on each of several devices, with a thread near it. Pairs are done by whichever device has room, a batch on each
// (Problem::batch) at a time, so that a fast one does more of them; whoever waits for their tickets in turn has the results in
// their order. The bits are those of one device. A device that fails (Error(device)) leaves its pairs to the others; when the
// last one does, its error is thrown.
class MatcherGroup {
 public:
  // Throws as Plan and Matcher do, of any of the devices; there is at least one.
  MatcherGroup(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices);
  // Waits until all pairs that were enqueued are done. In a user-written stage of one of its matchers it does not wait:
  // it returns at once, and the group's threads go on until these pairs are done, then free all memory and end. The
  // pairs and results must stay until then; main() must not return before.
  ~MatcherGroup();
  MatcherGroup(MatcherGroup&&) noexcept;
  MatcherGroup& operator=(MatcherGroup&&) noexcept;

  const Plan& plan() const;                  // the first device's
  std::vector<std::string> devices() const;  // their names
  std::size_t workspace_bytes() const;       // of all of them
  int in_flight() const;                     // pairs that can be in work: a batch on each device

  // As Matcher's: the pair and the result must stay until the ticket was waited for. Where in_flight() pairs are in work, it
  // first waits until one of them is done. It throws no other pair's error. For one thread at a time. A user-written stage must not
  // enqueue or wait in the group that runs it: Error(call).
  Ticket enqueue(const StereoPair& pair, Matched& result);
  // Waits until the pair is done; a default-constructed ticket is. Throws the pair's own error, if it failed, as Matcher::wait does,
  // and Error(call) for a ticket of another group or of a matcher.
  void wait(Ticket ticket);
  // Returns whether wait() would return, or throw the pair's error, at once. Throws Error(call) for a ticket of another group.
  bool is_done(Ticket ticket) const;

  // A result with images that the first device delivers to without a detour.
  Matched make_result() const;

  std::vector<LostDevice> lost() const;  // up to now

 private:
  void let_go() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereopsis
