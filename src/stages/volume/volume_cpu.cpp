#include <algorithm>

#include "device/cpu/threads.hpp"
#include "stages/volume/volume.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::volume {

template <class T>
void candidates_cpu(VolumeView<const T> costs, ImageView<const std::uint8_t> mask, ImageView<std::uint8_t> candidates,
                    Threads& threads) {
  threads.rows(costs.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < costs.width; ++x) {
        const T* const pixel = costs.pixel(x, y);
        const bool is_usable = mask.empty() || mask(x, y) != 0;
        candidates(x, y) = is_usable && std::any_of(pixel, pixel + costs.disparities, is_candidate<T>) ? 255 : 0;
      }
  });
}

#define STEREOPSIS_INSTANCE(T)                                                                                 \
  template void candidates_cpu(VolumeView<const T>, ImageView<const std::uint8_t>, ImageView<std::uint8_t>, \
                               Threads&);
STEREOPSIS_FOR_EACH_VOLUME_WITH_HOLES(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

void holes_cpu(ImageView<const std::uint8_t> mask, ImageView<std::uint8_t> validity, Threads& threads) {
  threads.rows(validity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < validity.width; ++x) {
        const bool is_hole = validity(x, y) == validity::masked && (mask.empty() || mask(x, y) != 0);
        if (is_hole) validity(x, y) = validity::no_candidate;
      }
  });
}

}  // namespace stereopsis::volume
