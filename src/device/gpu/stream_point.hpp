// A point in queues of the caller's: what a StreamMark is on a device.
#pragma once

#include <cstdint>
#include <memory>

#include "device/gpu/device.hpp"

namespace stereopsis::gpu {

class StreamPoint {
 public:
  virtual ~StreamPoint() = default;
  virtual void take(std::uint64_t stream) = 0;
  virtual void hold(std::uint64_t stream) = 0;
  virtual bool is_passed() const = 0;
  virtual void wait() const = 0;
};

}  // namespace stereopsis::gpu

namespace stereopsis::cuda {

// An event alone: one of a pair that is in work takes no memory of the device, as a stream of its own would (80 KB). Null for a
// device of another kind.
std::unique_ptr<gpu::StreamPoint> make_stream_point(gpu::Device& device);

}  // namespace stereopsis::cuda
