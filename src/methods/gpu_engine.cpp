#include <array>
#include <optional>

#include "methods/engine.hpp"
#include "methods/gpu_backend.hpp"

namespace stereopsis {
namespace {

constexpr int most_stages = 256;  // 16 levels of both views have about 100

// A queue and its part of the memory, which pairs use in turn.
struct Lane {
  gpu::Buffer memory;
  std::unique_ptr<gpu::Queue> queue;
};

// Page-locked stand-ins for images that the device's copies don't reach directly.
class StandIns {
 public:
  // The image itself, or a copy in its stand-in.
  AnyImageView copied(gpu::Device& device, int slot, const AnyImageView& image) {
    if (image.data == nullptr || gpu::is_page_locked(device, image.data)) return image;
    return with_pixels(image, [&]<class T>(ImageView<const T> from) {
      const ImageView<T> to = stand_in<T>(device, slot, from.size(), from.channels);
      copy(from, to);
      return AnyImageView(to, image.bit_depth);
    });
  }
  ImageView<const std::uint8_t> copied(gpu::Device& device, int slot, ImageView<const std::uint8_t> image) {
    return copied(device, slot, AnyImageView(image)).as<std::uint8_t>();
  }
  // The image itself, or its stand-in, which deliver() copies.
  template <class T>
  ImageView<T> instead(gpu::Device& device, int slot, ImageView<T> image) {
    if (image.data == nullptr || gpu::is_page_locked(device, image.data)) return image;
    return stand_in<T>(device, slot, image.size(), image.channels);
  }
  template <class T>
  static void deliver(ImageView<T> from, ImageView<T> to) {
    if (from.data != to.data) copy<T>(from, to);
  }

 private:
  template <class T>
  ImageView<T> stand_in(gpu::Device& device, int slot, Size size, int channels) {
    constexpr std::ptrdiff_t line = 64 / sizeof(T);
    const std::ptrdiff_t pitch = (static_cast<std::ptrdiff_t>(size.width) * channels + line - 1) / line * line;
    const std::size_t bytes = sizeof(T) * pitch * size.height;
    Piece& piece = pieces_[slot];
    if (piece.bytes < bytes) {
      piece = {};
      piece.memory.reset(gpu::allocate_page_locked(device, bytes));
      piece.bytes = bytes;
    }
    return {static_cast<T*>(piece.memory.get()), size.width, size.height, channels, pitch};
  }
  template <class T>
  static void copy(ImageView<const T> from, ImageView<T> to) {
    for (int y = 0; y < from.height; ++y)
      std::memcpy(to.row(y), from.row(y), sizeof(T) * static_cast<std::size_t>(from.width) * from.channels);
  }

  struct Release {
    void operator()(void* memory) const { gpu::release_page_locked(memory); }
  };
  struct Piece {
    std::unique_ptr<void, Release> memory;
    std::size_t bytes = 0;
  };
  std::array<Piece, 12> pieces_;  // of 4 inputs and 8 outputs
};

// What lies between its transfers is recorded when the frame comes the second time with the same images on the device, and
// replayed from then on: small images are then done up to 1.1 times as fast.
struct Frame {
  std::unique_ptr<gpu::Event> end;
  std::optional<DeviceFrame> last;
  std::unique_ptr<gpu::Graph> graph;
  bool records = true;                             // as far as is known
  std::vector<std::unique_ptr<gpu::Event>> marks;  // between the stages, where times are wanted
  std::vector<StageTime> stages;
  StandIns images;
  Outputs wanted, there;
};

std::size_t map_bytes(const Image<std::int32_t>& map) { return 2 * sizeof(std::int32_t) * map.width() * map.height(); }

class GpuEngine final : public Engine {
 public:
  GpuEngine(const PipelineData& data, const Problem& problem, const std::string& name, const MemoryLayout& layout)
      : data_(data),
        problem_(problem),
        device_(gpu::device(name)),
        stripe_rows_(layout.stripe_rows),
        frames_(static_cast<std::size_t>(problem.batch)) {
    for (int i = 0; i < layout.lanes; ++i)
      lanes_.push_back({gpu::Buffer(device_, layout.bytes_of_lane), device_.make_queue(layout.lanes > 1)});
    if (problem_.geometry.rectification) upload_maps(*problem_.geometry.rectification);
    for (Frame& frame : frames_) {
      frame.end = device_.make_event(false);
      if (!problem.want_times) continue;
      for (int i = 0; i < most_stages; ++i) frame.marks.push_back(device_.make_event(true));
      frame.stages.reserve(most_stages);
    }
  }

  void begin(int frame, const StereoPair& pair, const Outputs& out) override {
    Frame& f = frames_[frame];
    const StereoPair from{f.images.copied(device_, 0, pair.left), f.images.copied(device_, 1, pair.right),
                          f.images.copied(device_, 2, pair.mask_left), f.images.copied(device_, 3, pair.mask_right)};
    f.wanted = out;
    int slot = 4;
    for_each_output(f.there, out,
                    [&](auto& there, const auto& wanted) { there = f.images.instead(device_, slot++, wanted); });
    enqueue(frame, from, f.there, DeviceFrame{false, {!pair.mask_left.empty(), !pair.mask_right.empty()}, {}, {}});
  }

  void begin(int frame, const DevicePair& pair, const DeviceMatched& out, const std::uint64_t* stream) override {
    gpu::Queue& queue = *lane_of(frame).queue;
    frames_[frame].wanted = frames_[frame].there = {};
    if (stream != nullptr) queue.wait_for_native(*stream);
    const Size size = out.disparity.size();
    Problem shape = problem_;
    shape.want_right = !out.right.empty();
    shape.want_confidence = !out.confidence.empty();
    enqueue(frame, shape_of(problem_, pair.left.size()), shape_of_outputs(shape, size, {}),
            DeviceFrame{true, {}, pair, out});
    if (stream != nullptr) queue.let_native_wait(*stream);
  }

  void end(int frame, std::vector<StageTime>& times) override {
    Frame& f = frames_[frame];
    f.end->wait();
    for_each_output(f.there, f.wanted, []<class T>(const ImageView<T>& there, const ImageView<T>& wanted) {
      StandIns::deliver<T>(there, wanted);
    });
    times.clear();
    if (!problem_.want_times) return;
    times = f.stages;
    for (std::size_t i = 0; i < times.size(); ++i) times[i].ms = f.marks[i + 1]->ms_since(*f.marks[i]);
  }

  bool is_done(int frame) override { return frames_[frame].end->is_passed(); }

 private:
  void upload_maps(const RectificationMaps& maps) {
    map_memory_ = gpu::Buffer(device_, gpu_bytes_shared(problem_));
    gpu::Span rest = map_memory_.span();
    gpu::Queue& queue = *lanes_[0].queue;
    const auto upload = [&](const Image<std::int32_t>& map) {
      const gpu::Array<std::int32_t> there = rest.take(map_bytes(map)).as<std::int32_t>();
      const gpu::View<std::int32_t> view{there.memory, there.offset, map.width(), map.height(), 2, 2 * map.width()};
      queue.upload<std::int32_t>(map, view);
      return gpu::View<const std::int32_t>(view);
    };
    maps_ = {upload(maps.left), upload(maps.right)};
    queue.wait();
  }

  Lane& lane_of(int frame) { return lanes_[frame % lanes_.size()]; }

  void enqueue(int frame, const StereoPair& pair, const Outputs& out, const DeviceFrame& images) {
    Lane& lane = lane_of(frame);
    Frame& f = frames_[frame];
    const auto run_here = [&](GpuBackend::Mode mode) {
      GpuBackend backend(mode, lane.memory.span(), *lane.queue, images);
      backend.stripe_rows = stripe_rows_;
      backend.maps_there = maps_;
      if (problem_.want_times) backend.take_times(f.marks, f.stages);
      if (mode == GpuBackend::Mode::replay) backend.replays(*f.graph);
      run(data_, problem_, pair, out, backend);
      if (mode == GpuBackend::Mode::record) f.graph = backend.recorded();
      backend.keep();
    };
    const bool again = images == f.last;
    if (!again) f.graph.reset();
    f.last = images;
    if (again && !f.graph && f.records && !problem_.want_times) {
      run_here(GpuBackend::Mode::record);
      f.records = f.graph != nullptr;
    }
    run_here(again && f.graph ? GpuBackend::Mode::replay : GpuBackend::Mode::run);
    lane.queue->record(*f.end);
  }

  const PipelineData data_;
  const Problem problem_;
  gpu::Device& device_;
  const int stripe_rows_;
  gpu::Buffer map_memory_;
  Maps<gpu::View> maps_;  // all lanes read them
  std::vector<Frame> frames_;
  std::vector<Lane> lanes_;  // whose queues are done with before the frames' images go
};

}  // namespace

std::size_t gpu_bytes_of_run(const PipelineData& data, const Problem& problem, Size size, const std::string& device,
                             int stripe_rows) {
  GpuBackend counting(gpu::device(device).cuda_capability());
  counting.stripe_rows = stripe_rows;
  run(data, problem, shape_of(problem, size), shape_of_outputs(problem, output_size(data, size), size), counting);
  return counting.bytes();
}

std::size_t gpu_memory_bytes(const std::string& device) { return gpu::device(device).memory_bytes(); }

std::size_t gpu_largest_buffer(const std::string& device) { return gpu::device(device).largest_buffer(); }

std::size_t gpu_bytes_shared(const Problem& problem) {
  const auto whole = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  const RectificationMaps* maps = problem.geometry.rectification.get();
  return maps == nullptr ? 0 : whole(map_bytes(maps->left)) + whole(map_bytes(maps->right));
}

std::unique_ptr<Engine> make_gpu_engine(const PipelineData& data, const Problem& problem, const std::string& device,
                                        const MemoryLayout& layout) {
  return std::make_unique<GpuEngine>(data, problem, device, layout);
}

}  // namespace stereopsis
