#include <algorithm>

#include "stages/pixel_format/pixel_format.hpp"

namespace stereopsis::pixel_format {
namespace {

// Returns the index, in RGB, of the colour at a position in each block of 2×2 pixels.
int colour_at(PixelFormat format, int x, int y) {
  constexpr int colours[4][4] = {{0, 1, 1, 2}, {2, 1, 1, 0}, {1, 0, 2, 1}, {1, 2, 0, 1}};
  return colours[static_cast<int>(format) - static_cast<int>(PixelFormat::bayer_rggb)][y % 2 * 2 + x % 2];
}

int mirrored(int at, int size) { return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at; }

// The nearest green neighbours of a pixel are to the left and to the right, above and below.
template <class T>
T bilinear(const ImageView<const T>& image, PixelFormat format, int x, int y, int colour) {
  if (colour_at(format, x, y) == colour) return image(x, y);
  std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t> sum = 0, count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if (colour_at(format, x + dx + 2, y + dy + 2) != colour || (colour == 1 && dx != 0 && dy != 0)) continue;
      const T value = image(mirrored(x + dx, image.width), mirrored(y + dy, image.height));
      sum = count == 0 ? value : sum + value;
      ++count;
    }
  if constexpr (std::is_same_v<T, float>)
    return sum / count;
  else
    return static_cast<T>((sum + count / 2) / count);
}

std::uint8_t of_luma_and_chroma(int y, int u, int v, int colour) {
  const int c = y - 16, d = u - 128, e = v - 128;
  const int sums[] = {298 * c + 409 * e, 298 * c - 100 * d - 208 * e, 298 * c + 516 * d};
  return static_cast<std::uint8_t>(std::clamp((sums[colour] + 128) >> 8, 0, 255));
}

}  // namespace

template <class T>
void oracle(const Parameters& p, const InputOf<T, ImageView>& in, ImageView<T> rgb) {
  for (int y = 0; y < rgb.height; ++y)
    for (int x = 0; x < rgb.width; ++x)
      for (int c = 0; c < 3; ++c) {
        const int column = x + p.first.x, row = y + p.first.y;
        if (is_bayer(p.format)) {
          rgb(x, y, c) = bilinear(in.image, p.format, column, row, c);
        } else if (p.format == PixelFormat::nv12) {
          const auto chroma = [&](int i) { return static_cast<int>(in.chroma(column / 2, row / 2, i)); };
          rgb(x, y, c) = of_luma_and_chroma(static_cast<int>(in.image(x, y)), chroma(0), chroma(1), c);
        } else {
          rgb(x, y, c) = in.image(x, y, p.format == PixelFormat::rgba ? c : 2 - c);
        }
      }
}

template void oracle(const Parameters&, const InputOf<std::uint8_t, ImageView>&, ImageView<std::uint8_t>);
template void oracle(const Parameters&, const InputOf<std::uint16_t, ImageView>&, ImageView<std::uint16_t>);
template void oracle(const Parameters&, const InputOf<float, ImageView>&, ImageView<float>);

}  // namespace stereopsis::pixel_format
