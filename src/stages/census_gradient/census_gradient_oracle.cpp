#include "stages/census_gradient/census_gradient.hpp"

namespace stereopsis::census_gradient {

template <class T>
void oracle(ImageView<const T> grey, ImageView<const std::uint8_t> grey8, ImageView<std::uint32_t> words) {
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) {
      const int gradient = std::clamp(128 + grey8.clamped(x + 1, y) - grey8.clamped(x - 1, y), 0, 255);
      std::uint32_t word = static_cast<std::uint32_t>(gradient) << 24;
      int bit = 0;
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
          if (dx == 0 && dy == 0) continue;
          word |= static_cast<std::uint32_t>(grey.clamped(x + dx, y + dy) < grey(x, y)) << bit++;
        }
      words(x, y) = word;
    }
}

template void oracle(ImageView<const std::uint8_t>, ImageView<const std::uint8_t>, ImageView<std::uint32_t>);
template void oracle(ImageView<const std::uint16_t>, ImageView<const std::uint8_t>, ImageView<std::uint32_t>);
template void oracle(ImageView<const float>, ImageView<const std::uint8_t>, ImageView<std::uint32_t>);

}  // namespace stereopsis::census_gradient
