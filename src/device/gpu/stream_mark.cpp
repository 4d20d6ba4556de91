#include "stereopsis/stream_mark.hpp"

#include "device/gpu/device.hpp"
#include "device/gpu/stream_point.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/cuda_api.hpp"
#endif

namespace stereopsis {

namespace {

// Synchronises with the caller's queue by an additional queue.
class QueuePoint final : public gpu::StreamPoint {
 public:
  explicit QueuePoint(gpu::Device& device) : queue_(device.make_queue(true)), event_(device.make_event(false)) {}

  void take(std::uint64_t stream) override {
    queue_->wait_for_native(stream);
    queue_->record(*event_);
  }
  void hold(std::uint64_t stream) override { queue_->let_native_wait(stream); }
  bool is_passed() const override { return event_->is_passed(); }
  void wait() const override { event_->wait(); }

 private:
  std::unique_ptr<gpu::Queue> queue_;
  std::unique_ptr<gpu::Event> event_;
};

std::unique_ptr<gpu::StreamPoint> make_point(gpu::Device& device) {
#ifdef STEREOPSIS_CUDA
  if (auto point = cuda::make_stream_point(device)) return point;
#endif
  return std::make_unique<QueuePoint>(device);
}

}  // namespace

struct StreamMark::State {
  std::unique_ptr<gpu::StreamPoint> point;
};

StreamMark::StreamMark(const std::string& device)
    : state_(std::make_unique<State>(State{make_point(gpu::device(device))})) {}
StreamMark::~StreamMark() = default;
StreamMark::StreamMark(StreamMark&&) noexcept = default;
StreamMark& StreamMark::operator=(StreamMark&&) noexcept = default;

void StreamMark::take(std::uint64_t stream) { state_->point->take(stream); }
void StreamMark::hold(std::uint64_t stream) { state_->point->hold(stream); }
bool StreamMark::is_passed() const { return state_->point->is_passed(); }
void StreamMark::wait() { state_->point->wait(); }

bool is_memory_of(const std::string& device, [[maybe_unused]] std::uint64_t memory) {
  [[maybe_unused]] const std::string name = gpu::device(device).name();
#ifdef STEREOPSIS_CUDA
  std::string reason;
  if (const cuda::Api* api = name.starts_with("cuda") ? cuda::open(reason) : nullptr; api != nullptr) {
    constexpr int ordinal = 9;
    int owner = -1;
    return api->pointer_attribute(&owner, ordinal, memory) == cuda::success &&
           name == "cuda:" + std::to_string(owner);
  }
#endif
  return true;
}

}  // namespace stereopsis
