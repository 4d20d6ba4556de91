#include "core/rounding.hpp"
#include "device/gpu/device.hpp"
#include "stages/rank/rank.hpp"
#include "stages/rank/rank_cuda_problem.hpp"

namespace stereopsis::rank {
namespace {

// The tuned CUDA kernels support 8-bit images, and have one instance for each window.
const char* tuned_instance(int window) {
  constexpr const char* instances[] = {nullptr, "w3", "w5", "w7", "w9", "w11", "w13", "w15"};
  return instances[window / 2];
}
gpu::Kernel tuned_kernel(const char* instance) { return {"rank_cuda", "rank", instance, true}; }
gpu::Grid over_tiles(Size size, int views, const gpu::Queue& queue) {
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  return {views * ceil_div(size.width, tuning.tile_width), ceil_div(size.height, tuning.tile_height), tuning.threads(),
          1};
}

template <class T>
const char* tuned_for(const Parameters& p, const gpu::Queue& queue) {
  return sizeof(T) == 1 && gpu::runs(tunings, queue.properties()) ? tuned_instance(p.window) : nullptr;
}

}  // namespace

template <class T>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<std::uint8_t> ranks, gpu::Queue& queue) {
  const auto tiles = over_tiles(ranks.size(), 1, queue);
  if (const char* tuned = tuned_for<T>(p, queue))
    queue.launch(tuned_kernel(tuned), tiles, tiles.groups_x, grey, ranks, grey, ranks);
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
  const auto tiles = over_tiles(ranks[0].size(), 2, queue);
  queue.launch(tuned_kernel(tuned), tiles, tiles.groups_x / 2, grey[0], ranks[0], grey[1], ranks[1]);
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
