#include "device/gpu/device.hpp"
#include "stages/quantise/quantise.hpp"

namespace stereopsis::quantise {

template <class T>
void gpu(float scale, gpu::Volume<const T> costs, gpu::Volume<std::uint8_t> quantised, gpu::Queue& queue) {
  const int cells = costs.width * costs.disparities;
  constexpr int items = 256, cells_of_group = 16 * items;  // the same values as in quantise.cl
  queue.launch({"quantise", "quantise",
                std::is_same_v<T, float> ? "f32"
                : sizeof(T) == 1         ? "u8"
                                         : "u16"},
               {(cells + cells_of_group - 1) / cells_of_group, costs.height, items, 1}, costs.cells, quantised.cells,
               cells, costs.height, scale);
}

#define STEREOPSIS_INSTANCE(T) template void gpu(float, gpu::Volume<const T>, gpu::Volume<std::uint8_t>, gpu::Queue&);
STEREOPSIS_FOR_EACH_QUANTISED(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::quantise
