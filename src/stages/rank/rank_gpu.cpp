#include "device/gpu/device.hpp"
#include "stages/rank/rank.hpp"

namespace stereopsis::rank {
namespace {

// The tuned CUDA kernels take 8-bit images and have an instance for each window; they make tiles of 32 × 32 pixels.
const char* tuned_instance(int window) {
  constexpr const char* instances[] = {nullptr, "w3", "w5", "w7", "w9", "w11", "w13", "w15"};
  return instances[window / 2];
}
constexpr int tile = 32;

template <class T>
const char* tuned_for(const Parameters& p, const gpu::Queue& queue) {
  return sizeof(T) == 1 && queue.cuda_capability() >= 80 ? tuned_instance(p.window) : nullptr;
}

}  // namespace

template <class T>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<std::uint8_t> ranks, gpu::Queue& queue) {
  const int across = (ranks.width + tile - 1) / tile, down = (ranks.height + tile - 1) / tile;
  if (const char* tuned = tuned_for<T>(p, queue))
    queue.launch({"rank_cuda", "rank", tuned}, {across, down, 256, 1}, across, grey, ranks, grey, ranks);
  else
    queue.launch({"rank", "rank", gpu::instance_of<T>()}, gpu::over(ranks.size()), grey, ranks, p.window / 2);
}

template <class T>
void gpu(const Parameters& p, const std::array<gpu::View<const T>, 2>& grey,
         const std::array<gpu::View<std::uint8_t>, 2>& ranks, gpu::Queue& queue) {
  const char* tuned = tuned_for<T>(p, queue);
  if (tuned == nullptr || ranks[0].size() != ranks[1].size()) {
    for (int v = 0; v < 2; ++v) gpu(p, grey[v], ranks[v], queue);
    return;
  }
  const int across = (ranks[0].width + tile - 1) / tile, down = (ranks[0].height + tile - 1) / tile;
  queue.launch({"rank_cuda", "rank", tuned}, {2 * across, down, 256, 1}, across, grey[0], ranks[0], grey[1], ranks[1]);
}

#define STEREOPSIS_INSTANCE(T)                                                                    \
  template void gpu(const Parameters&, gpu::View<const T>, gpu::View<std::uint8_t>, gpu::Queue&); \
  template void gpu(const Parameters&, const std::array<gpu::View<const T>, 2>&,                  \
                    const std::array<gpu::View<std::uint8_t>, 2>&, gpu::Queue&);
STEREOPSIS_INSTANCE(std::uint8_t)
STEREOPSIS_INSTANCE(std::uint16_t)
STEREOPSIS_INSTANCE(float)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::rank
