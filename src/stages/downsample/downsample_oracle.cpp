#include "stages/downsample/downsample.hpp"

namespace stereopsis::downsample {
namespace {

template <class T>
T mean(int factor, ImageView<const T> image, int x, int y, int channel) {
  const int count = factor * factor;
  std::conditional_t<std::is_same_v<T, float>, float, int> sum = 0;
  for (int dy = 0; dy < factor; ++dy)
    for (int dx = 0; dx < factor; ++dx) sum += image.clamped(factor * x + dx, factor * y + dy, channel);
  if constexpr (std::is_same_v<T, float>)
    return sum * (1.0f / static_cast<float>(count));
  else
    return static_cast<T>((2 * static_cast<long long>(sum) + count) / (2 * count));
}

}  // namespace

template <class T>
void oracle(int factor, ImageView<const T> image, ImageView<T> out) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x)
      for (int c = 0; c < out.channels; ++c) out(x, y, c) = mean(factor, image, x, y, c);
}

template void oracle(int, ImageView<const std::uint8_t>, ImageView<std::uint8_t>);
template void oracle(int, ImageView<const std::uint16_t>, ImageView<std::uint16_t>);
template void oracle(int, ImageView<const float>, ImageView<float>);

}  // namespace stereopsis::downsample
