// A point in the caller's queues: the implementation of a StreamMark on a device.
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

// Makes a stream point that consists only of an event. A pair in flight then needs no device memory for the point; a
// stream would take 80 KB. Returns null if the device is not a CUDA device.
std::unique_ptr<gpu::StreamPoint> make_stream_point(gpu::Device& device);

}  // namespace stereopsis::cuda
