// What a matcher works with on its device. Frames are pairs in work, numbered from 0 to the batch; they are begun in turn, and
// a frame is ended before it is begun again.
#pragma once

#include <memory>
#include <vector>

#include "methods/views.hpp"
#include "stereopsis/device_image.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis {

class Engine {
 public:
  virtual ~Engine() = default;

  // Returns at once. The images must stay until end().
  virtual void begin(int frame, const StereoPair&, const Outputs&) = 0;
  // `stream`: a queue of the caller's that comes before and after.
  virtual void begin(int frame, const DevicePair&, const DeviceMatched&, const std::uint64_t* stream);
  // Waits; throws what went wrong. `times` are those that were taken.
  virtual void end(int frame, std::vector<StageTime>& times) = 0;
  virtual bool is_done(int frame) = 0;

  // Both, when no other frame is in work.
  virtual void match(const StereoPair& pair, const Outputs& out, std::vector<StageTime>& times) {
    begin(0, pair, out);
    end(0, times);
  }
};

// How a plan divides its memory.
struct MemoryLayout {
  int lanes = 1;  // pairs that have memory of their own
  std::size_t bytes_of_lane = 0;
  int stripe_rows = 0;  // of stripes that semi-global matching is done in; 0: the whole image
};

// A pair without pixels, of the problem's kind. Where it is still to be rectified it is whole, else of `size`.
StereoPair shape_of(const Problem&, Size size);
// Outputs without pixels: results, and the rectified image.
Outputs shape_of_outputs(const Problem&, Size result, Size rectified);

// The bytes that a run takes, and those that all runs share: the maps of a rectification.
std::size_t host_bytes_of_run(const PipelineData&, const Problem&, Size size, int threads, int stripe_rows);
std::size_t gpu_bytes_of_run(const PipelineData&, const Problem&, Size size, const std::string& device,
                             int stripe_rows);

std::size_t gpu_memory_bytes(const std::string& device);
std::size_t gpu_largest_buffer(const std::string& device);
std::size_t gpu_bytes_shared(const Problem&);

std::unique_ptr<Engine> make_host_engine(const PipelineData&, const Problem&, int threads, const MemoryLayout&);
std::unique_ptr<Engine> make_gpu_engine(const PipelineData&, const Problem&, const std::string& device,
                                        const MemoryLayout&);

}  // namespace stereopsis
