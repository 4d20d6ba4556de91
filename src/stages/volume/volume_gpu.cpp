#include "device/gpu/device.hpp"
#include "stages/volume/volume.hpp"

namespace stereopsis::volume {

template <class T>
void candidates_gpu(gpu::Volume<const T> costs, gpu::View<const std::uint8_t> mask,
                    gpu::View<std::uint8_t> candidates, gpu::Queue& queue) {
  queue.launch({"volume", "candidates", gpu::instance_of<T>()}, gpu::over(candidates.size()), costs.cells,
               costs.disparities, mask, candidates);
}

#define STEREOPSIS_INSTANCE(T)                                                                        \
  template void candidates_gpu(gpu::Volume<const T>, gpu::View<const std::uint8_t>,                  \
                               gpu::View<std::uint8_t>, gpu::Queue&);
STEREOPSIS_FOR_EACH_VOLUME_WITH_HOLES(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

void holes_gpu(gpu::View<const std::uint8_t> mask, gpu::View<std::uint8_t> validity, gpu::Queue& queue) {
  queue.launch({"volume", "holes", "u16"}, gpu::over(validity.size()), mask, validity);
}

}  // namespace stereopsis::volume
