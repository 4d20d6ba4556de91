// What a matcher works with on its device. Frames are pairs in work, numbered from 0 to the batch; they are begun in turn, and
// a frame is ended before it is begun again.
#pragma once

#include <memory>
#include <vector>

#include "program/program.hpp"
#include "stereopsis/device_image.hpp"

namespace stereopsis {

// The caller's images of a frame, by Binding; those without memory are not there.
using FrameImages = std::array<AnyView, binding_count>;

class Engine {
 public:
  virtual ~Engine() = default;

  // Returns at once. The images must stay until end(). On the device: nothing is transferred, and `stream`, a queue of the
  // caller's, comes before and after.
  virtual void begin(int frame, const FrameImages&, bool on_device = false, const std::uint64_t* stream = nullptr) = 0;
  // Waits; throws what went wrong. `times` are those that were taken. Afterwards the frame can be begun again.
  virtual void end(int frame, std::vector<StageTime>& times) = 0;
  virtual bool is_done(int frame) = 0;

  // Both, when no other frame is in work.
  virtual void match(const FrameImages& images, std::vector<StageTime>& times) {
    begin(0, images);
    end(0, times);
  }

  // Whether the calling thread is running stages of this engine: the caller is a user-written stage.
  bool runs_here() const;

 protected:
  // While it lives, the calling thread runs stages of the engine.
  class Running {
   public:
    explicit Running(const Engine& engine) : engine_(engine), outer_(innermost) { innermost = this; }
    ~Running() { innermost = outer_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    friend class Engine;
    static thread_local const Running* innermost;
    const Engine& engine_;
    const Running* const outer_;  // a stage may use other matchers
  };
};

// How a plan divides its memory.
struct MemoryLayout {
  int lanes = 1;  // pairs that have memory of their own
  std::size_t bytes_of_lane = 0;
};

// The bytes that all runs share on a GPU: the maps of a rectification, and constants of stages. All that the device has.
std::size_t gpu_bytes_shared(const PipelineData&, const Problem&);
// The page-locked memory of the host that pairs of a batch in pageable memory take on their way to a GPU and back.
std::size_t staging_bytes(const Program&, int batch);
std::size_t gpu_memory_bytes(const std::string& device);

std::unique_ptr<Engine> make_host_engine(std::shared_ptr<const Programs>, const Problem&, int threads,
                                         const MemoryLayout&);
std::unique_ptr<Engine> make_gpu_engine(std::shared_ptr<const Programs>, const Problem&, const std::string& device,
                                        const MemoryLayout&);

}  // namespace stereopsis
