#include "stereopsis/stream_mark.hpp"

#include "core/text.hpp"
#include "device/gpu/device.hpp"
#ifdef STEREOPSIS_CUDA
#include "device/cuda/cuda_api.hpp"
#endif

namespace stereopsis {

struct StreamMark::State {
  explicit State(gpu::Device& device) : queue(device.make_queue(true)), event(device.make_event(false)) {}

  std::unique_ptr<gpu::Queue> queue;  // meets the caller's
  std::unique_ptr<gpu::Event> event;
};

StreamMark::StreamMark(const std::string& device) : state_(std::make_unique<State>(gpu::device(device))) {}
StreamMark::~StreamMark() = default;
StreamMark::StreamMark(StreamMark&&) noexcept = default;
StreamMark& StreamMark::operator=(StreamMark&&) noexcept = default;

void StreamMark::take(std::uint64_t stream) {
  state_->queue->wait_for_native(stream);
  state_->queue->record(*state_->event);
}
void StreamMark::hold(std::uint64_t stream) { state_->queue->let_native_wait(stream); }
bool StreamMark::is_passed() const { return state_->event->is_passed(); }
void StreamMark::wait() { state_->event->wait(); }

bool is_memory_of(const std::string& device, [[maybe_unused]] std::uint64_t memory) {
  [[maybe_unused]] const std::string name = gpu::device(device).name();
#ifdef STEREOPSIS_CUDA
  std::string reason;
  if (const cuda::Api* api = name.starts_with("cuda") ? cuda::open(reason) : nullptr; api != nullptr) {
    constexpr int ordinal = 9;
    int owner = -1;
    return api->pointer_attribute(&owner, ordinal, memory) == cuda::success && name == text("cuda:", owner);
  }
#endif
  return true;
}

}  // namespace stereopsis
