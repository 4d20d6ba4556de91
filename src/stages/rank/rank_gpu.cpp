#include "device/gpu/device.hpp"
#include "stages/rank/rank.hpp"

namespace stereopsis::rank {

template <class T>
void gpu(const Parameters& p, gpu::View<const T> grey, gpu::View<std::uint8_t> ranks, gpu::Queue& queue) {
  queue.launch({"rank", "rank", gpu::instance_of<T>()}, gpu::over(ranks.size()), grey, ranks, p.window / 2);
}

template void gpu(const Parameters&, gpu::View<const std::uint8_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const std::uint16_t>, gpu::View<std::uint8_t>, gpu::Queue&);
template void gpu(const Parameters&, gpu::View<const float>, gpu::View<std::uint8_t>, gpu::Queue&);

}  // namespace stereopsis::rank
