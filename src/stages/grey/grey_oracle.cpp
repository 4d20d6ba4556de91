#include <cmath>

#include "stages/grey/grey.hpp"

namespace stereopsis::grey {
namespace {

template <class T>
T grey_of(const T* pixel, int channels) {
  if (channels == 1) return pixel[0];
  if constexpr (std::is_same_v<T, float>) {
    const float red_green = 0.299f * pixel[0] + 0.587f * pixel[1];
    return red_green + 0.114f * pixel[2];
  } else {
    return static_cast<T>((19595ull * pixel[0] + 38470ull * pixel[1] + 7471ull * pixel[2] + 32768) >> 16);
  }
}

}  // namespace

template <class T>
void oracle(ImageView<const T> image, ImageView<const std::uint8_t> mask, ImageView<T> grey,
            ImageView<std::uint8_t> usable) {
  check_channels(image.channels);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const T value = grey_of(&image(x, y), image.channels);
      const bool finite = std::isfinite(static_cast<double>(value));
      grey(x, y) = finite ? value : T{0};
      if (!usable.empty()) usable(x, y) = finite && (mask.empty() || mask(x, y) != 0) ? 255 : 0;
    }
}

template <class T>
void oracle8(ImageView<const T> grey, int bit_depth, ImageView<std::uint8_t> grey8) {
  check_bit_depth<T>(bit_depth);
  const int white = (1 << bit_depth) - 1;
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) {
      const T value = grey(x, y);
      if constexpr (std::is_same_v<T, float>) {
        grey8(x, y) = value > 0 ? static_cast<std::uint8_t>(std::floor(std::min(value, 255.0f) + 0.5f)) : 0;
      } else {
        grey8(x, y) = static_cast<std::uint8_t>((std::min<int>(value, white) * 255 + white / 2) / white);
      }
    }
}

template void oracle(ImageView<const std::uint8_t>, ImageView<const std::uint8_t>, ImageView<std::uint8_t>,
                     ImageView<std::uint8_t>);
template void oracle(ImageView<const std::uint16_t>, ImageView<const std::uint8_t>, ImageView<std::uint16_t>,
                     ImageView<std::uint8_t>);
template void oracle(ImageView<const float>, ImageView<const std::uint8_t>, ImageView<float>, ImageView<std::uint8_t>);
template void oracle8(ImageView<const std::uint8_t>, int, ImageView<std::uint8_t>);
template void oracle8(ImageView<const std::uint16_t>, int, ImageView<std::uint8_t>);
template void oracle8(ImageView<const float>, int, ImageView<std::uint8_t>);

}  // namespace stereopsis::grey
