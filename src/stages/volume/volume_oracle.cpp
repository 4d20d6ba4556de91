#include "stages/volume/volume.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::volume {
namespace {

bool is_usable(ImageView<const std::uint8_t> mask, int x, int y) { return mask.empty() || mask(x, y) != 0; }

template <class T>
bool has_candidate(VolumeView<const T> costs, int x, int y) {
  for (int d = 0; d < costs.disparities; ++d)
    if (is_candidate(costs(x, y, d))) return true;
  return false;
}

}  // namespace

template <class T>
void candidates_oracle(VolumeView<const T> costs, ImageView<const std::uint8_t> mask,
                       ImageView<std::uint8_t> candidates) {
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      candidates(x, y) = is_usable(mask, x, y) && has_candidate(costs, x, y) ? 255 : 0;
}

#define STEREOPSIS_INSTANCE(T) \
  template void candidates_oracle(VolumeView<const T>, ImageView<const std::uint8_t>, ImageView<std::uint8_t>);
STEREOPSIS_FOR_EACH_VOLUME_WITH_HOLES(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

void holes_oracle(ImageView<const std::uint8_t> mask, ImageView<std::uint8_t> validity) {
  for (int y = 0; y < validity.height; ++y)
    for (int x = 0; x < validity.width; ++x)
      if (validity(x, y) == validity::masked && is_usable(mask, x, y)) validity(x, y) = validity::no_candidate;
}

}  // namespace stereopsis::volume
