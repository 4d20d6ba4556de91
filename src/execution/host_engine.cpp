#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "execution/engine.hpp"
#include "stereopsis/rectification.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {

#ifndef STEREOPSIS_SIMD
class Threads {
 public:
  explicit Threads(int) {}
};
#endif

namespace {

// Number of bytes that stages may read beyond the costs of a pixel. The memory of the caller may end there, so these
// bytes must not belong to the caller.
constexpr std::size_t bytes_beyond = 64;

// An engine that matches one pair at a time, with all threads. A thread of the engine runs the frames in the order in
// which they began.
class HostEngine final : public Engine {
 public:
  HostEngine(std::shared_ptr<const Programs> programs, const EngineOptions& options, int threads)
      : programs_(std::move(programs)),
        maps_(options.rectification),
        memory_(static_cast<std::byte*>(detail::allocate_aligned(options.bytes_of_lane))),
        threads_(threads),
        frames_(static_cast<std::size_t>(options.batch)) {
#ifdef STEREOPSIS_SIMD
    const Target& target = programs_->without_masks().target();
    if (threads == callers_arena && target.device == On::cpu && target.threads != threads_.count())
      throw Error(ErrorCategory::call, text("the matcher is constructed in an arena of ", threads_.count(),
                                            " threads, but its plan in an arena of ", target.threads,
                                            "; construct both in the same arena (arena.execute)"));
#endif
  }

  ~HostEngine() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (runner_.joinable()) runner_.join();
  }

  void use_maps(const std::shared_ptr<const RectificationMaps>& maps) override { maps_ = maps; }

  void begin(int frame, const FrameArguments& arguments, bool, const std::uint64_t*) override {
    if (!runner_.joinable()) start_runner();
    {
      const std::lock_guard lock(mutex_);
      InWork& f = frames_[frame];
      f.arguments = arguments;
      f.maps = maps_;
      f.error = nullptr;
      f.waiting = true;
      next_ = waiting_ == 0 ? frame : next_;
      ++waiting_;
    }
    changed_.notify_all();
  }

  void end(int frame, std::vector<StageTime>& times) override {
    InWork& f = frames_[frame];
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !f.waiting; });
    if (f.error) std::rethrow_exception(f.error);
    times.swap(f.times);
  }

  bool is_done(int frame) override {
    const std::lock_guard lock(mutex_);
    return !frames_[frame].waiting;
  }

  void match(const FrameArguments& arguments, std::vector<StageTime>& times) override {
    run(arguments, maps_.get(), times);
  }

 private:
  void start_runner() try {
    runner_ = std::thread([this] { run_frames(); });
  } catch (const std::system_error& e) {
    throw Error(ErrorCategory::unsupported,
                std::string("the system did not start a thread for the pairs in flight (") + e.code().message() +
                    "); use a batch of 1, or raise the limits of processes and memory (ulimit -u, ulimit -v)");
  }

  struct InWork {
    FrameArguments arguments;
    std::shared_ptr<const RectificationMaps> maps;
    std::vector<StageTime> times;
    std::exception_ptr error;
    bool waiting = false;
  };

  void run(FrameArguments arguments, const RectificationMaps* maps, std::vector<StageTime>& times) {
    const Running running(*this);
    FrameImages& images = arguments.images;
    const auto there = [&](Binding e) -> AnyView& { return images[index_of(e)]; };
    const Masks masks = masks_of(images);
    const Program& program = programs_->of(masks, arguments, false);
    if (maps != nullptr) {
      const Rect shown = program.shown();
      there(Binding::map_left) = AnyView::of(maps->left.view()).crop(shown);
      there(Binding::map_right) = AnyView::of(maps->right.view()).crop(shown);
      there(Binding::map_rows_right) =
          AnyView::of(maps->right.view()).crop({shown.x, 0, shown.width, maps->size().height});
    }
    if (AnyView& costs = there(Binding::costs); costs.memory != 0) keep_end(costs);
    const FrameImages wanted = images;
    for (std::size_t i = 0; i < made_.size(); ++i) make_inside(there(volume_outputs[i]), made_[i]);
    const auto memory = reinterpret_cast<std::uint64_t>(memory_.get());
    program.bind(memory, images, masks, views_);
    times.clear();
    for (const std::string& name : program.times()) times.push_back({.name = name});
    const auto run_step = [&](const ProgramStep& s, const auto& call, auto* function) {
      const auto start = std::chrono::steady_clock::now();
      function(call);
      const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
      StageTime& time = times[static_cast<std::size_t>(s.time)];
      time.ms += elapsed.count();
      add_work(time, s.work);
    };
    const auto run_steps = [&]<On on>(auto function) {
      program.for_each_step<on>(
          program.steps(), arguments.rows, views_, memory, &threads_,
          [&](const ProgramStep& s, const Call<on>& call) { run_step(s, call, s.step.entry->functions.*function); });
    };
    if (program.target().device == On::cpu)
      run_steps.template operator()<On::cpu>(&Functions::cpu);
    else
      run_steps.template operator()<On::oracle>(&Functions::oracle);
    for (const Binding e : volume_outputs) copy_rows(there(e), wanted[index_of(e)]);
  }

  static std::size_t row_bytes(const AnyView& v) { return static_cast<std::size_t>(v.rows(0, 1).bytes()); }
  static std::byte* row_of(const AnyView& v, int y) {
    return reinterpret_cast<std::byte*>(v.memory) +
           (v.offset + y * v.pitch) * static_cast<std::int64_t>(bytes_of(v.element));
  }
  static void copy_rows(const AnyView& from, const AnyView& to) {
    for (int y = 0; from.memory != 0 && y < from.height; ++y)
      std::memcpy(row_of(to, y), row_of(from, y), row_bytes(from));
  }

  // Writes a requested volume to memory of the engine instead, because later stages read the volume.
  static void make_inside(AnyView& wanted, std::vector<std::byte>& memory) {
    if (wanted.memory == 0) return;
    memory.resize(row_bytes(wanted) * static_cast<std::size_t>(wanted.height) + bytes_beyond);
    wanted.memory = reinterpret_cast<std::uint64_t>(memory.data());
    wanted.offset = 0;
    wanted.pitch = wanted.row_elements();
  }

  // Copies the last row of a cost volume of the caller to memory with padding. If rows are so short that reading beyond
  // the second-last row would also reach beyond the end, copies all rows.
  void keep_end(AnyView& costs) {
    const bool all = costs.rows(0, 1).bytes() < static_cast<double>(bytes_beyond);
    const AnyView kept = all ? costs : costs.rows(costs.height - 1, 1);
    const std::size_t row = row_bytes(kept);
    kept_.resize(row * static_cast<std::size_t>(kept.height) + bytes_beyond);
    for (int y = 0; y < kept.height; ++y)
      std::memcpy(kept_.data() + row * static_cast<std::size_t>(y), row_of(kept, y), row);
    const auto there = reinterpret_cast<std::uint64_t>(kept_.data());
    if (!all) {
      costs.last_row = there;
      return;
    }
    costs.memory = there;
    costs.offset = 0;
    costs.pitch = costs.row_elements();
  }

  void run_frames() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || waiting_ > 0; });
      if (stop_) return;
      InWork& f = frames_[next_];
      lock.unlock();
      std::exception_ptr error;
      try {
        run(f.arguments, f.maps.get(), f.times);
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

  const std::shared_ptr<const Programs> programs_;
  std::shared_ptr<const RectificationMaps> maps_;  // the maps of the next frame
  const std::unique_ptr<std::byte, detail::AlignedDelete> memory_;
  Threads threads_;
  std::vector<AnyView> views_;   // views of the frame that is running
  std::vector<std::byte> kept_;  // copy of the cost volume that came with the frame
  std::array<std::vector<std::byte>, volume_outputs.size()> made_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<InWork> frames_;
  int next_ = 0, waiting_ = 0;
  bool stop_ = false;
  std::thread runner_;
};

}  // namespace

std::size_t host_bytes_beside(const Program& program) {
  double bytes = 0;
  for (const Binding volume : volume_outputs)
    if (const AnyView shape = program.shape(volume); !shape.empty()) bytes += shape.bytes() + bytes_beyond;
  if (const AnyView given = program.shape(Binding::costs); !given.empty())
    bytes += given.bytes() / given.height + bytes_beyond;
  return static_cast<std::size_t>(bytes);
}

std::unique_ptr<Engine> make_host_engine(std::shared_ptr<const Programs> programs, const EngineOptions& options,
                                         int threads) {
  return std::make_unique<HostEngine>(std::move(programs), options, threads);
}

}  // namespace stereopsis
