#include "stages/difference/difference.hpp"

namespace stereopsis::difference {

template <class T>
void oracle(Space space, ImageView<const T> image, ImageView<std::uint32_t> words) {
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      std::uint32_t word = image(x, y);
      if (space == Space::lab) {
        word = 0;
        for (int channel = 0; channel < 3; ++channel) {
          const std::uint32_t quarters = image(x, y) >> 10 * channel & 1023;
          word |= std::min((quarters + 2) / 4, 255u) << 8 * channel;
        }
      }
      words(x, y) = word;
    }
}

template void oracle(Space, ImageView<const std::uint8_t>, ImageView<std::uint32_t>);
template void oracle(Space, ImageView<const std::uint32_t>, ImageView<std::uint32_t>);

}  // namespace stereopsis::difference
