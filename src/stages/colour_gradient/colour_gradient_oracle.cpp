#include "stages/colour_gradient/colour_gradient.hpp"

namespace stereopsis::colour_gradient {

void oracle(ImageView<const std::uint8_t> image, ImageView<const std::uint8_t> grey, ImageView<std::uint64_t> words) {
  const int last = image.channels - 1;
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x)
      words(x, y) = word_of(image(x, y, 0), image(x, y, std::min(1, last)), image(x, y, last),
                            grey.clamped(x + 1, y) - grey.clamped(x - 1, y));
}

}  // namespace stereopsis::colour_gradient
