// Frames that are compared with the frame behind them: a frame that was read for another step is not decoded again.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "jobs/cameras.hpp"

namespace stereopsis::jobs {

// Several threads may call all functions.
class Neighbours {
 public:
  static constexpr std::size_t most_kept = 2;  // frames

  // The cameras must outlive the object.
  explicit Neighbours(const Cameras& cameras) : cameras_(cameras) {}

  // Keeps a copy of a frame, in place of the earliest one if there are too many.
  void keep(std::size_t i, const InputFrame& frame);
  // Returns a kept frame, and null for the others.
  std::shared_ptr<const InputFrame> kept(std::size_t i) const;
  // Returns a frame, which is read and kept if it is not there.
  std::shared_ptr<const InputFrame> read(std::size_t i);

 private:
  void keep(std::size_t i, std::shared_ptr<const InputFrame> frame);

  const Cameras& cameras_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::shared_ptr<const InputFrame>> frames_;
};

}  // namespace stereopsis::jobs
