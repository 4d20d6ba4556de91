#include <condition_variable>
#include <mutex>
#include <thread>

#include "methods/cpu_backend.hpp"
#include "methods/engine.hpp"

namespace stereopsis {
namespace {

#ifdef STEREOPSIS_SIMD
using Worker = Threads;
CpuBackend make_backend(Workspace workspace, Threads& threads) { return {workspace, threads}; }
#else
struct Worker {
  explicit Worker(int) {}
};
OracleBackend make_backend(Workspace workspace, Worker&) { return OracleBackend(workspace); }
#endif

// One pair at a time, with all threads; those that were begun are done by a thread of the engine's, in turn.
class HostEngine final : public Engine {
 public:
  HostEngine(const PipelineData& data, const Problem& problem, int threads, const MemoryLayout& layout)
      : data_(data),
        problem_(problem),
        layout_(layout),
        memory_(static_cast<std::byte*>(detail::allocate_aligned(layout.bytes_of_lane))),
        threads_(threads),
        frames_(static_cast<std::size_t>(problem.batch)) {}

  ~HostEngine() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (runner_.joinable()) runner_.join();
  }

  using Engine::begin;
  void begin(int frame, const StereoPair& pair, const Outputs& out) override {
    if (!runner_.joinable()) runner_ = std::thread([this] { run_frames(); });
    {
      const std::lock_guard lock(mutex_);
      Frame& f = frames_[frame];
      f.pair = pair;
      f.out = out;
      f.error = nullptr;
      f.waiting = true;
      next_ = waiting_ == 0 ? frame : next_;
      ++waiting_;
    }
    changed_.notify_all();
  }

  void end(int frame, std::vector<StageTime>& times) override {
    Frame& f = frames_[frame];
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !f.waiting; });
    if (f.error) std::rethrow_exception(f.error);
    times.swap(f.times);
  }

  bool is_done(int frame) override {
    const std::lock_guard lock(mutex_);
    return !frames_[frame].waiting;
  }

  void match(const StereoPair& pair, const Outputs& out, std::vector<StageTime>& times) override {
    run(pair, out, times);
  }

 private:
  struct Frame {
    StereoPair pair;
    Outputs out;
    std::vector<StageTime> times;
    std::exception_ptr error;
    bool waiting = false;
  };

  void run(const StereoPair& pair, const Outputs& out, std::vector<StageTime>& times) {
    auto backend = make_backend(Workspace({memory_.get(), layout_.bytes_of_lane}), threads_);
    backend.stripe_rows = layout_.stripe_rows;
    stereopsis::run(data_, problem_, pair, out, backend);
    times.swap(backend.times);
  }

  void run_frames() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || waiting_ > 0; });
      if (stop_) return;
      Frame& f = frames_[next_];
      lock.unlock();
      std::exception_ptr error;
      try {
        run(f.pair, f.out, f.times);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      f.error = error;
      f.waiting = false;
      next_ = (next_ + 1) % static_cast<int>(frames_.size());
      --waiting_;
      changed_.notify_all();
    }
  }

  const PipelineData data_;
  const Problem problem_;
  const MemoryLayout layout_;
  const std::unique_ptr<std::byte, detail::AlignedDelete> memory_;
  Worker threads_;

  std::mutex mutex_;  // for what follows
  std::condition_variable changed_;
  std::vector<Frame> frames_;
  int next_ = 0, waiting_ = 0;
  bool stop_ = false;
  std::thread runner_;
};

}  // namespace

void Engine::begin(int, const DevicePair&, const DeviceMatched&, const std::uint64_t*) {
  throw Error(ErrorCategory::call,
              "images on a device can't be matched by the cpu; plan for the device that they are on");
}

std::size_t host_bytes_of_run(const PipelineData& data, const Problem& problem, Size size, int threads,
                              int stripe_rows) {
  Worker worker(threads);
  auto counting = make_backend(Workspace(), worker);
  counting.stripe_rows = stripe_rows;
  run(data, problem, shape_of(problem, size), shape_of_outputs(problem, output_size(data, size), size), counting);
  return counting.bytes();
}

std::unique_ptr<Engine> make_host_engine(const PipelineData& data, const Problem& problem, int threads,
                                         const MemoryLayout& layout) {
  return std::make_unique<HostEngine>(data, problem, threads, layout);
}

}  // namespace stereopsis
