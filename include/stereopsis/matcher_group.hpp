// A group of matchers: several devices that process one stream of pairs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stereopsis/matcher.hpp"

namespace stereopsis {

// Returns the devices in the comma-separated list `device.name` ("cuda:0,cuda:1"). The names cuda:* and opencl:* mean
// all usable devices of that kind. The other members of `device` apply to each of the devices. Throws the errors of
// resolve_device(), and Error(call) if a device is listed twice.
std::vector<Device> devices_of(const Device& device);

// A device that failed while others continued.
struct LostDevice {
  std::string name;  // name of the device, as in MatcherGroup::devices()
  std::string why;   // message of the error
};

// One matcher per device, each with its own thread. The next free device takes a pair, so that faster devices process
// more pairs. Each device matches up to Problem::batch pairs at a time, and one more pair waits for it. Wait for the
// tickets in order to get the results in order. The results equal those of one device, bit for bit. If a device fails
// (Error(device)), the other devices match its pairs. If the last device fails, its error is thrown.
class MatcherGroup {
 public:
  // Creates a matcher on each device. Throws the errors of Plan and Matcher, and Error(call) if there is no device.
  MatcherGroup(const Pipeline& pipeline, const Problem& problem, std::span<const Device> devices);
  // Waits until all enqueued pairs are done. Inside a user-defined stage of the group, the destructor returns at once.
  // The group's threads then finish the enqueued pairs, free all memory and end. Until the threads have ended, the
  // pairs and results must remain valid, and main() must not return.
  ~MatcherGroup();
  MatcherGroup(MatcherGroup&&) noexcept;
  MatcherGroup& operator=(MatcherGroup&&) noexcept;

  const Plan& plan() const;                  // plan of the first device
  std::vector<std::string> devices() const;  // names of the devices
  std::size_t workspace_bytes() const;       // sum of the workspaces of all devices
  // Largest number of pairs in flight: Problem::batch per device, and one more that the device finds when it has
  // finished a pair.
  int in_flight() const;

  // Starts to match a pair, like Matcher::enqueue(). The pair and the result must remain valid until wait() has
  // returned for the ticket. If in_flight() pairs are in flight, the call first waits until one pair is done. The call
  // never throws the error of another pair. Only one thread at a time may call enqueue(). Throws Error(call) inside a
  // user-defined stage of the group.
  Ticket enqueue(const StereoPair& pair, Matched& result);
  // Waits until the pair of the ticket is done. Throws the error of the pair if it failed, like Matcher::wait(), and
  // Error(call) for a ticket of another group or of a matcher. A default-constructed ticket is always done.
  void wait(Ticket ticket);
  // Returns whether wait() would return, or throw the pair's error, at once. Throws Error(call) for a ticket of another
  // group.
  bool is_done(Ticket ticket) const;

  // Returns a result with memory that the first device pinned, for fast downloads. The pinned memory of a CUDA device
  // serves all CUDA devices.
  Matched make_result() const;

  std::vector<LostDevice> lost() const;  // devices that have failed so far

 private:
  void let_go() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereopsis
