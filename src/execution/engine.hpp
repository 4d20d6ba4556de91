// The engine of a matcher runs its programs on one device. A frame is a pair in flight, with a number below the size of
// the batch. Frames begin in turn, and a frame must end before it can begin again.
#pragma once

#include <memory>
#include <vector>

#include "planning/program.hpp"
#include "stereopsis/stage_time.hpp"

namespace stereopsis {

struct RectificationMaps;

// Options of an engine in addition to its programs.
struct EngineOptions {
  int batch = 1;       // largest number of pairs in flight
  bool times = false;  // true if the times of stages are measured on a GPU
  std::shared_ptr<const RectificationMaps> rectification = {};
  int lanes = 1;                  // number of workspaces
  std::size_t bytes_of_lane = 0;  // size of each workspace
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Sets the rectification maps of the frames that begin after the call. They have the sizes of those of the options.
  virtual void use_maps(const std::shared_ptr<const RectificationMaps>& maps) = 0;
  // Enqueues a frame and returns at once. The images of the arguments must remain valid until end(). With `on_device`, the images are
  // already on the device, and the frame runs after earlier and before later work in `stream`, a queue of the caller.
  virtual void begin(int frame, const FrameArguments&, bool on_device = false,
                     const std::uint64_t* stream = nullptr) = 0;
  // Waits for a frame, and throws the error of the frame if it failed. `times` receives the measured times. After the
  // call, the frame can begin again.
  virtual void end(int frame, std::vector<StageTime>& times) = 0;
  virtual bool is_done(int frame) = 0;

  // Begins and ends a frame. Requires that no other frame is in flight.
  virtual void match(const FrameArguments& arguments, std::vector<StageTime>& times) {
    begin(0, arguments);
    end(0, times);
  }

  // Returns whether the calling thread is running stages of this engine, which means that the caller is a user-defined
  // stage.
  bool runs_here() const;

 protected:
  // Marks the calling thread as running stages of the engine while the object exists.
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
    const Running* const outer_;  // set if a stage uses another matcher
  };
};

// Returns the size, in bytes, of the device memory that all frames share: the maps of `rectification`, which may be
// null, and the constants of stages.
std::size_t gpu_bytes_shared(const PipelineData& pipeline, const RectificationMaps* rectification);
// Returns the size, in bytes, of the pinned host memory through which a batch of pairs in pageable memory is copied to
// and from a GPU.
std::size_t staging_bytes(const Program& program, int batch);
// Returns the number of bytes that the host engine allocates in addition to the workspace, for requested volumes and
// for copies of given volumes.
std::size_t host_bytes_beside(const Program& program);
std::size_t gpu_memory_bytes(const std::string& device);
// Adds the work of a step to the entry of its time.
void add_work(StageTime& time, const Work& work);

std::unique_ptr<Engine> make_host_engine(std::shared_ptr<const Programs> programs, const EngineOptions& options,
                                         int threads);
std::unique_ptr<Engine> make_gpu_engine(std::shared_ptr<const Programs> programs, const EngineOptions& options,
                                        const std::string& device);

}  // namespace stereopsis
