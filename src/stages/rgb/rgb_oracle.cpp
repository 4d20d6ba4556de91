#include "stages/rgb/rgb.hpp"

namespace stereopsis::rgb {
namespace {

int in_8_bits(float v, int) { return static_cast<int>(std::floor(std::clamp(v, 0.0f, 255.0f) + 0.5f)); }
int in_8_bits(int v, int white) { return (std::min(v, white) * 255 + white / 2) / white; }

}  // namespace

template <class T>
void oracle(ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask, ImageView<std::uint32_t> words,
            ImageView<std::uint8_t> usable) {
  const int white = (1 << bit_depth) - 1;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      int colour[3] = {};
      bool finite = true;
      for (int c = 0; c < 3; ++c)
        finite = finite && std::isfinite(static_cast<double>(image(x, y, c % image.channels)));
      for (int c = 0; finite && c < 3; ++c) colour[c] = in_8_bits(image(x, y, c % image.channels), white);
      words(x, y) = word_of(colour[0], colour[1], colour[2]);
      if (!usable.empty()) usable(x, y) = finite && (mask.empty() || mask(x, y) != 0) ? 255 : 0;
    }
}

using Mask = ImageView<const std::uint8_t>;
using Bytes = ImageView<std::uint8_t>;
template void oracle(ImageView<const std::uint8_t>, int, Mask, ImageView<std::uint32_t>, Bytes);
template void oracle(ImageView<const std::uint16_t>, int, Mask, ImageView<std::uint32_t>, Bytes);
template void oracle(ImageView<const float>, int, Mask, ImageView<std::uint32_t>, Bytes);

}  // namespace stereopsis::rgb
