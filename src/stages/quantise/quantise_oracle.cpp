#include <cmath>

#include "stages/quantise/quantise.hpp"

namespace stereopsis::quantise {
namespace {

template <class T>
std::uint8_t quantised_of(float scale, T cost) {
  if (std::is_same_v<T, std::uint16_t> && cost == 65535) return 255;
  const float value = static_cast<float>(cost);
  if (std::isnan(value)) return 255;
  const float scaled = scale * std::max(value, 0.0f);
  return static_cast<std::uint8_t>(std::min(std::floor(scaled + 0.5f), 255.0f));
}

}  // namespace

template <class T>
void oracle(float scale, VolumeView<const T> costs, VolumeView<std::uint8_t> quantised) {
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int d = 0; d < costs.disparities; ++d) quantised(x, y, d) = quantised_of(scale, costs(x, y, d));
}

#define STEREOPSIS_INSTANCE(T) template void oracle(float, VolumeView<const T>, VolumeView<std::uint8_t>);
STEREOPSIS_FOR_EACH_QUANTISED(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::quantise
