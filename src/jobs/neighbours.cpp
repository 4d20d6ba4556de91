#include "jobs/neighbours.hpp"

#include <utility>

namespace stereopsis::jobs {

void Neighbours::keep(std::size_t i, const InputFrame& frame) { keep(i, std::make_shared<const InputFrame>(frame)); }

void Neighbours::keep(std::size_t i, std::shared_ptr<const InputFrame> frame) {
  const std::lock_guard lock(mutex_);
  frames_.insert_or_assign(i, std::move(frame));
  if (frames_.size() > most_kept) frames_.erase(frames_.begin());
}

std::shared_ptr<const InputFrame> Neighbours::kept(std::size_t i) const {
  const std::lock_guard lock(mutex_);
  const auto found = frames_.find(i);
  return found == frames_.end() ? nullptr : found->second;
}

std::shared_ptr<const InputFrame> Neighbours::read(std::size_t i) {
  if (auto frame = kept(i)) return frame;
  auto frame = std::make_shared<const InputFrame>(cameras_.read_frame(i));
  keep(i, frame);
  return frame;
}

}  // namespace stereopsis::jobs
