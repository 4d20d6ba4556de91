#include <cmath>

#include "stages/hsv/hsv.hpp"

namespace stereopsis::hsv {
namespace {

// Returns round(numerator / denominator), ties up.
int rounded(int numerator, int denominator) { return (2 * numerator + denominator) / (2 * denominator); }

// Returns scale · (32 + 32 △(turn / (12 chroma))), where △ = 1 − distance / (3 chroma) for the distance to the nearest
// whole turn.
int on_diamond(int scale, int turn, int chroma) {
  const int distance = std::min(turn, 12 * chroma - turn);
  return rounded(scale * (6 * chroma - distance), 24 * chroma);
}

std::uint32_t hsv_word(const std::array<int, 3>& scales, int red, int green, int blue) {
  const int value = std::max({red, green, blue});
  const int chroma = value - std::min({red, green, blue});
  // The hue, in units of 1/(12 chroma) turn.
  const int unit = std::max(chroma, 1);
  int hue = 0;
  if (chroma > 0 && value == red)
    hue = 2 * (green - blue) + (green < blue ? 12 * chroma : 0);
  else if (chroma > 0 && value == green)
    hue = 2 * (blue - red) + 4 * chroma;
  else if (chroma > 0)
    hue = 2 * (red - green) + 8 * chroma;
  const int quarter_back = (hue - 3 * unit + 12 * unit) % (12 * unit);
  const int saturation = value == 0 ? 0 : rounded(scales[1] * 255 * chroma, 256 * value);
  return static_cast<std::uint32_t>(on_diamond(scales[0], hue, unit) | on_diamond(scales[0], quarter_back, unit) << 8 |
                                    saturation << 16 | rounded(scales[2] * value, 256) << 24);
}

template <class T>
std::uint32_t word(const Weighting& w, const T* pixel, int channels, int bit_depth) {
  if (channels == 1) return static_cast<std::uint32_t>(to_8_bits(pixel[0], bit_depth)) << 24;
  int rgb[3];
  for (int i = 0; i < 3; ++i) rgb[i] = to_8_bits(pixel[i], bit_depth);
  if (w.space == Space::hsv) return hsv_word(w.scales, rgb[0], rgb[1], rgb[2]);
  std::uint32_t word = 0;
  for (int i = 0; i < 3; ++i) word |= static_cast<std::uint32_t>(rounded(w.scales[i] * rgb[i], 256)) << 8 * i;
  return word;
}

}  // namespace

template <class T>
void oracle(const Weighting& w, ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask,
            ImageView<std::uint32_t> words, ImageView<std::uint8_t> usable) {
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      bool finite = true;
      for (int i = 0; i < image.channels; ++i) finite = finite && std::isfinite(static_cast<double>(image(x, y, i)));
      words(x, y) = finite ? word(w, &image(x, y), image.channels, bit_depth) : 0;
      if (!usable.empty()) usable(x, y) = finite && (mask.empty() || mask(x, y) != 0) ? 255 : 0;
    }
}

template void oracle(const Weighting&, ImageView<const std::uint8_t>, int, ImageView<const std::uint8_t>,
                     ImageView<std::uint32_t>, ImageView<std::uint8_t>);
template void oracle(const Weighting&, ImageView<const std::uint16_t>, int, ImageView<const std::uint8_t>,
                     ImageView<std::uint32_t>, ImageView<std::uint8_t>);
template void oracle(const Weighting&, ImageView<const float>, int, ImageView<const std::uint8_t>,
                     ImageView<std::uint32_t>, ImageView<std::uint8_t>);

}  // namespace stereopsis::hsv
