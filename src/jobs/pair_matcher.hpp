// Matches both views of frames for one range: on the calling thread, or with several frames in flight.
#pragma once

#include <optional>
#include <vector>

#include "jobs/frame.hpp"
#include "jobs/view_tickets.hpp"
#include "stereopsis/matcher_group.hpp"

namespace stereopsis::jobs {

// The pair whose left view is the right view of `frame`: the right view is matched so.
InputFrame mirrored(const InputFrame& frame);

class PairMatcher {
 public:
  // Matches on the calling thread. `right` plans the mirrored pair, if the right view is matched, too.
  PairMatcher(const Plan& left, const std::optional<Plan>& right);
  // Distributes frames to the devices.
  PairMatcher(const Pipeline& pipeline, const Problem& left, const std::optional<Problem>& right,
              const std::vector<Device>& devices);

  DisparityRange range() const { return plan().problem().range; }
  // Returns whether the plan serves the maps of a frame: its right image may lack pixels.
  bool suits(const InputFrame& frame) const {
    return range() == frame.range && serves(plan().problem().geometry.rectification.get(), frame.maps.get());
  }
  const Plan& plan() const { return one_left_ ? one_left_->plan() : left_->plan(); }
  std::size_t workspace_bytes() const;
  Matched make_result() const { return one_left_ ? one_left_->make_result() : left_->make_result(); }
  // Returns the devices that failed, so that the others matched their frames.
  std::vector<LostDevice> lost() const { return left_ ? left_->lost() : std::vector<LostDevice>(); }

  // Starts a frame, whose images and result must stay where they are until wait() returns or throws.
  ViewTickets enqueue(const InputFrame& frame, const InputFrame& mirrored, FrameResult& result);
  void wait(const ViewTickets& tickets);

 private:
  std::optional<Matcher> one_left_, one_right_;
  std::optional<MatcherGroup> left_, right_;
};

}  // namespace stereopsis::jobs
