#include "jobs/pair_matcher.hpp"

#include "jobs/pixels.hpp"

namespace stereopsis::jobs {

InputFrame mirrored(const InputFrame& frame) {
  return {mirrored(frame.right), mirrored(frame.left), mirrored(frame.mask_right.view()),
          mirrored(frame.mask_left.view()), frame.range};
}

PairMatcher::PairMatcher(const Plan& left, const std::optional<Plan>& right) : one_left_(left) {
  if (right) one_right_.emplace(*right);
}

PairMatcher::PairMatcher(const Pipeline& pipeline, const Problem& left, const std::optional<Problem>& right,
                         const std::vector<Device>& devices) {
  left_.emplace(pipeline, left, devices);
  if (right) right_.emplace(pipeline, *right, devices);
}

std::size_t PairMatcher::workspace_bytes() const {
  if (one_left_) return plan().workspace_bytes() + (one_right_ ? one_right_->plan().workspace_bytes() : 0);
  return left_->workspace_bytes() + (right_ ? right_->workspace_bytes() : 0);
}

ViewTickets PairMatcher::enqueue(const InputFrame& frame, const InputFrame& mirror, FrameResult& result) {
  if (!one_left_)
    return enqueue_views(
        *left_, [&](auto& left) { return left.enqueue(frame.pair(), result.left); }, right_,
        [&](auto& right) { return right.enqueue(mirror.pair(), result.right); });
  one_left_->match(frame.pair(), result.left);
  if (one_right_) one_right_->match(mirror.pair(), result.right);
  return {};
}

void PairMatcher::wait(const ViewTickets& tickets) {
  if (left_) wait_for_views(*left_, right_, tickets);
}

}  // namespace stereopsis::jobs
