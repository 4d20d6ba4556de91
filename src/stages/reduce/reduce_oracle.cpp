#include "stages/reduce/reduce.hpp"

namespace stereopsis::reduce {
namespace {

template <class T>
T average(ImageView<const T> block) {
  const int count = block.width * block.height;
  if constexpr (std::is_same_v<T, float>) {
    float sum = 0;
    for (int x = 0; x < block.width; ++x) {
      float column = 0;
      for (int y = 0; y < block.height; ++y) column += block(x, y);
      sum += column;
    }
    return sum * (1.0f / static_cast<float>(count));
  } else {
    int sum = 0;
    for (int y = 0; y < block.height; ++y)
      for (int x = 0; x < block.width; ++x) sum += block(x, y);
    return static_cast<T>((sum + count / 2) / count);
  }
}

bool all_usable(ImageView<const std::uint8_t> block) {
  for (int y = 0; y < block.height; ++y)
    for (int x = 0; x < block.width; ++x)
      if (block(x, y) == 0) return false;
  return true;
}

}  // namespace

template <class T>
void oracle(const Parameters& p, ImageView<const T> grey, ImageView<const std::uint8_t> mask, ImageView<T> reduced,
            ImageView<std::uint8_t> usable) {
  for (int y = 0; y < reduced.height; ++y)
    for (int x = 0; x < reduced.width; ++x) {
      const int left = x * p.factor, top = y * p.factor, side = p.sampling == Sampling::average ? p.factor : 1;
      const Rect block{left, top, std::min(side, grey.width - left), std::min(side, grey.height - top)};
      reduced(x, y) = average(grey.crop(block));
      if (!usable.empty()) usable(x, y) = mask.empty() || all_usable(mask.crop(block)) ? 255 : 0;
    }
}

template void oracle(const Parameters&, ImageView<const std::uint8_t>, ImageView<const std::uint8_t>,
                     ImageView<std::uint8_t>, ImageView<std::uint8_t>);
template void oracle(const Parameters&, ImageView<const std::uint16_t>, ImageView<const std::uint8_t>,
                     ImageView<std::uint16_t>, ImageView<std::uint8_t>);
template void oracle(const Parameters&, ImageView<const float>, ImageView<const std::uint8_t>, ImageView<float>,
                     ImageView<std::uint8_t>);

void scale_oracle(const Parameters& p, ImageView<float> disparity) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      if (!std::isnan(disparity(x, y))) disparity(x, y) *= static_cast<float>(p.factor);
}

}  // namespace stereopsis::reduce
