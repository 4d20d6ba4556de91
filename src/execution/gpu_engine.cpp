#include <algorithm>

#include "device/gpu/device.hpp"
#include "device/gpu/free_memory.hpp"
#include "execution/device_constants.hpp"
#include "execution/engine.hpp"
#include "execution/pinned_staging.hpp"
#include "execution/recorded.hpp"

namespace stereopsis {
namespace {

// A queue and its workspace. The pairs use the lanes in turn.
struct Lane {
  gpu::Buffer memory;
  std::unique_ptr<gpu::Queue> queue;
};

// A frame in flight. If the addresses of its device images change from pair to pair, the frame works on copies at fixed
// addresses. The steps of such a frame can be replayed, which saves the host more time than the copies take on the
// device.
struct InWork {
  std::unique_ptr<gpu::Event> end;
  Recorded direct, on_copies;
  bool records = true;                             // false after a recording has failed
  std::vector<std::unique_ptr<gpu::Event>> marks;  // events between the stages, if times are requested
  std::vector<StageTime> times;
  PinnedStaging stand_ins;
  FrameImages wanted, there;  // outputs on the host, and device memory for the outputs
};

// Waits for the enqueued work if an exception ends a frame, because copies may still access the caller's images.
class Guard {
 public:
  explicit Guard(gpu::Queue& queue) : queue_(queue) {}
  ~Guard() {
    if (kept_) return;
    try {
      if (recording) queue_.end_recording();
      queue_.wait();
    } catch (...) {  // the error that ended the frame is more informative
    }
  }
  void keep() { kept_ = true; }

  bool recording = false;

 private:
  gpu::Queue& queue_;
  bool kept_ = false;
};

class GpuEngine final : public Engine {
 public:
  GpuEngine(std::shared_ptr<const Programs> programs, const EngineOptions& options, const std::string& name)
      : programs_(std::move(programs)),
        times_(options.times),
        maps_(options.rectification),
        device_(gpu::device(name)),
        frames_(static_cast<std::size_t>(options.batch)) {
    for (int i = 0; i < options.lanes; ++i)
      lanes_.push_back({gpu::Buffer(device_, options.bytes_of_lane), device_.make_queue(options.lanes > 1)});
    for (const Value& v : programs_->with_masks().values())
      if (v.has_place) reads_[index_of(v.binding)] = true;
    shared_.upload(programs_->with_masks(), options.rectification.get(), device_, *lanes_[0].queue);
    const auto is_capturable = [](const ProgramStep& s) { return s.step.entry->facet<UserFunction>() == nullptr; };
    const bool records = std::ranges::all_of(programs_->without_masks().steps(), is_capturable);
    for (InWork& frame : frames_) {
      frame.end = device_.make_event(false);
      frame.records = records;
    }
  }

  void use_maps(const std::shared_ptr<const RectificationMaps>& maps) override {
    if (maps == maps_) return;
    for (Lane& lane : lanes_) lane.queue->wait();  // frames in flight read the maps
    shared_.upload_maps(*maps, *lanes_[0].queue);
    maps_ = maps;
  }

  void begin(int frame, const FrameArguments& arguments, bool on_device, const std::uint64_t* stream) override {
    const Running running(*this);
    const FrameImages& images = arguments.images;
    InWork& f = frames_[frame];
    gpu::Queue& queue = *lane_of(frame).queue;
    if (stream != nullptr) queue.wait_for_native(*stream);
    f.wanted = f.there = {};
    FrameArguments from = arguments;
    if (!on_device)
      for (std::size_t i = 0; i < images.size(); ++i) {
        const auto e = static_cast<Binding>(i);
        if (is_input(e) && reads_[i]) from.images[i] = f.stand_ins.copied(device_, i, images[i]);
        if (is_output(e)) {
          f.wanted[i] = images[i];
          f.there[i] = f.stand_ins.instead(device_, i, images[i]);
        }
      }
    enqueue(frame, from, on_device);
    if (stream != nullptr) queue.let_native_wait(*stream);
  }

  void end(int frame, std::vector<StageTime>& times) override {
    InWork& f = frames_[frame];
    f.end->wait();
    for (std::size_t i = 0; i < f.wanted.size(); ++i) PinnedStaging::deliver(f.there[i], f.wanted[i]);
    times.clear();
    if (!times_) return;
    times = f.times;
    for (std::size_t i = 0; i < times.size(); ++i) times[i].ms = f.marks[i + 1]->ms_since(*f.marks[i]);
  }

  bool is_done(int frame) override { return frames_[frame].end->is_passed(); }

 private:
  Lane& lane_of(int frame) { return lanes_[frame % lanes_.size()]; }

  // Enqueues the uploads, the steps and the downloads of a frame.
  void enqueue(int frame, const FrameArguments& arguments, bool on_device) {
    const FrameImages& images = arguments.images;
    Lane& lane = lane_of(frame);
    InWork& f = frames_[frame];
    const Masks masks = masks_of(images);
    const Program& program = programs_->of(masks, arguments, on_device);
    FrameImages seen = on_device ? images : FrameImages{};
    image_of(seen, Binding::map_left) = shared_.map(0);
    image_of(seen, Binding::map_right) = shared_.map(1);
    image_of(seen, Binding::map_rows_right) = shared_.map_rows_right();
    const bool first = !f.direct.images;
    bool again = f.direct.see(program, masks, seen);
    const bool copies = on_device && !again && !first && f.records && !times_;
    if (copies) {
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (is_input(static_cast<Binding>(i)) || is_output(static_cast<Binding>(i))) seen[i] = {};
      again = f.on_copies.see(program, masks, seen);
    }
    Recorded& recorded = copies ? f.on_copies : f.direct;

    Guard guard(*lane.queue);
    start_times(f, program, *lane.queue);
    if (!recorded.graph || !program.is_fixed()) program.bind(lane.memory.handle(), seen, masks, views_);
    if (copies) copy(program, images, lane, is_input);
    if (!on_device) transfer(f, "upload", *lane.queue, [&](double& bytes) { upload(program, images, lane, bytes); });
    replay_or_run(f, recorded, again, program, arguments.rows, lane, guard);
    if (copies) copy(program, images, lane, is_output);
    if (!on_device)
      transfer(f, "download", *lane.queue, [&](double& bytes) { download(program, f.there, lane, bytes); });
    lane.queue->record(*f.end);
    guard.keep();
  }

  // Runs the steps. Only steps that are the same for all pairs are recorded.
  void replay_or_run(InWork& f, Recorded& recorded, bool again, const Program& program, const RowAlignment& rows,
                     Lane& lane, Guard& guard) {
    const auto run = [&](int first, int last) { run_steps(f, program, {first, last}, rows, lane); };
    const auto [first, last] = program.fixed_steps();
    run(0, first);
    if (!recorded.graph && again && f.records && !times_) {
      guard.recording = lane.queue->begin_recording();
      if (guard.recording) {
        run(first, last);
        guard.recording = false;
        recorded.graph = lane.queue->end_recording();
      }
      f.records = recorded.graph != nullptr;
    }
    if (recorded.graph)
      lane.queue->replay(*recorded.graph);
    else
      run(first, last);
    run(last, static_cast<int>(program.steps().size()));
  }

  static AnyView& image_of(FrameImages& images, Binding e) { return images[index_of(e)]; }
  static const AnyView& image_of(const FrameImages& images, Binding e) { return images[index_of(e)]; }

  void run_steps(InWork& f, const Program& program, Rows part, const RowAlignment& rows, Lane& lane) {
    const auto steps =
        program.steps().subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count()));
    program.for_each_step<On::gpu>(steps, rows, views_, lane.memory.handle(), lane.queue.get(),
                                   [&](const ProgramStep& s, const Call<On::gpu>& call) {
                                     s.step.entry->functions.gpu(call.with_constants(shared_.constants(s.step)));
                                     if (times_) take_time(f, s.step.title, s.work, *lane.queue);
                                   });
  }

  // Calls f(image in the workspace, image of the caller) for each image whose binding `moves` selects.
  template <class F>
  void for_each_transfer(const Program& program, const FrameImages& images, const Lane& lane, bool (*moves)(Binding),
                         F&& f) const {
    for (const Value& v : program.values()) {
      const AnyView& host = image_of(images, v.binding);
      if (v.binding == Binding::none || !moves(v.binding) || !v.has_place || host.memory == 0) continue;
      AnyView place = v.shape;
      place.memory = lane.memory.handle();
      place.offset = static_cast<std::int64_t>(v.offset) / bytes_of(v.shape.element);
      f(place.flat(), host.flat());
    }
  }
  void upload(const Program& program, const FrameImages& images, Lane& lane, double& bytes) {
    for_each_transfer(program, images, lane, is_input, [&](const AnyView& place, const AnyView& host) {
      bytes += place.bytes();
      with_bytes(place, host, [&](auto there, auto here) { lane.queue->upload(as_const(here), there); });
    });
  }
  void download(const Program& program, const FrameImages& images, Lane& lane, double& bytes) {
    for_each_transfer(program, images, lane, is_output, [&](const AnyView& place, const AnyView& host) {
      bytes += place.bytes();
      with_bytes(place, host, [&](auto there, auto here) { lane.queue->download(there, here); });
    });
  }
  // Copies the caller's device images to their places in the workspace, or from there.
  void copy(const Program& program, const FrameImages& images, Lane& lane, bool (*moves)(Binding)) {
    for_each_transfer(program, images, lane, moves, [&](const AnyView& place, const AnyView& image) {
      const bool in = moves == is_input;
      const AnyView &from = in ? image : place, &to = in ? place : image;
      switch (bytes_of(place.element)) {
        case 1: return lane.queue->copy(from.on_gpu<const std::uint8_t>(), to.on_gpu<std::uint8_t>());
        case 2: return lane.queue->copy(from.on_gpu<const std::uint16_t>(), to.on_gpu<std::uint16_t>());
        default: lane.queue->copy(from.on_gpu<const float>(), to.on_gpu<float>());
      }
    });
  }
  template <class T>
  static ImageView<const T> as_const(ImageView<T> image) {
    return image;
  }
  // Calls `f` with both images, converted to the type that has the size of their elements.
  template <class F>
  static void with_bytes(const AnyView& place, const AnyView& host, F&& f) {
    switch (bytes_of(place.element)) {
      case 1: return f(place.on_gpu<std::uint8_t>(), host.on_host<std::uint8_t>());
      case 2: return f(place.on_gpu<std::uint16_t>(), host.on_host<std::uint16_t>());
      default: return f(place.on_gpu<float>(), host.on_host<float>());
    }
  }

  void start_times(InWork& f, const Program& program, gpu::Queue& queue) {
    f.times.clear();
    if (!times_) return;
    // Events for the start, for the steps, and for both transfers.
    const std::size_t count = program.times().size() + 3;
    while (f.marks.size() < count) f.marks.push_back(device_.make_event(true));
    queue.record(*f.marks[0]);
  }
  template <class F>
  void transfer(InWork& f, const char* name, gpu::Queue& queue, F&& run) {
    double bytes = 0;
    run(bytes);
    if (times_) take_time(f, name, {.bytes = bytes}, queue);
  }
  // Adds the work enqueued since the last event to the entry `name`. A new entry is made unless the last entry has this
  // name.
  void take_time(InWork& f, const std::string& name, const Work& work, gpu::Queue& queue) {
    if (f.times.empty() || f.times.back().name != name) f.times.push_back({.name = name});
    add_work(f.times.back(), work);
    queue.record(*f.marks[f.times.size()]);
  }

  const std::shared_ptr<const Programs> programs_;
  const bool times_;  // true if the times of stages are measured
  std::shared_ptr<const RectificationMaps> maps_;
  gpu::Device& device_;
  DeviceConstants shared_;  // read by all lanes
  // True for each binding that is read; methods on grey images do not read chroma.
  std::array<bool, binding_count> reads_{};
  std::vector<AnyView> views_;  // views of the frame that is currently enqueued
  std::vector<InWork> frames_;
  std::vector<Lane> lanes_;  // destroyed first, so that the queues finish before the images of the frames are freed
};

}  // namespace

std::size_t staging_bytes(const Program& program, int batch) {
  std::size_t bytes = 0;
  for (const Value& v : program.values())
    if (is_input(v.binding) || is_output(v.binding)) bytes += PinnedStaging::bytes_for(v.shape);
  return bytes * static_cast<std::size_t>(batch);
}

std::size_t gpu_memory_bytes(const std::string& device) { return gpu::free_bytes(gpu::device(device)); }

std::unique_ptr<Engine> make_gpu_engine(std::shared_ptr<const Programs> programs, const EngineOptions& options,
                                        const std::string& device) {
  return std::make_unique<GpuEngine>(std::move(programs), options, device);
}

}  // namespace stereopsis
