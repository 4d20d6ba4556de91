#include "device/gpu/device.hpp"
#include "stages/rank/rank.hpp"

namespace stereopsis::rank {
namespace {

// The tuned CUDA kernels take 8-bit images and have an instance for each window; they make tiles of 32 × 32 pixels.
const char* tuned_instance(int window) {
  constexpr const char* instances[] = {nullptr, "w3", "w5", "w7", "w9", "w11", "w13", "w15"};
  return instances[window / 2];
}
gpu::Grid over_tiles(Size size) { return {(size.width + 31) / 32, (size.height + 31) / 32, 256, 1}; }

}  // namespace

template <class T>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<std::uint8_t> ranks, gpu::Queue& queue) {
  const char* tuned = sizeof(T) == 1 && queue.cuda_capability() >= 80 ? tuned_instance(p.window) : nullptr;
  if (tuned != nullptr)
    queue.launch({"rank_cuda", "rank", tuned}, over_tiles(ranks.size()), grey, ranks);
  else
    queue.launch({"rank", "rank", gpu::instance_of<T>()}, gpu::over(ranks.size()), grey, ranks, p.window / 2);
}

template void gpu(const Parameters&, gpu::View<const std::uint8_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint16_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const float>, gpu::View<std::uint8_t>, gpu::Queue&);

}  // namespace stereopsis::rank
