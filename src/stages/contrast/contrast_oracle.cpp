#include <algorithm>

#include "stages/contrast/contrast.hpp"

namespace stereopsis::contrast {
namespace {

// Returns whether the pixels [u0, u1] × [v0, v1] are equal.
template <class T>
bool is_flat(const ImageView<const T>& image, int u0, int u1, int v0, int v1) {
  for (int v = v0; v <= v1; ++v)
    for (int u = u0; u <= u1; ++u)
      for (int c = 0; c < image.channels; ++c)
        if ((u != u0 || v != v0) && image(u, v, c) != image(u0, v0, c)) return false;
  return true;
}

}  // namespace

template <class T>
void oracle(const Parameters& p, ImageView<const T> image, ImageView<std::uint8_t> validity) {
  for (int y = 0; y < validity.height; ++y)
    for (int x = 0; x < validity.width; ++x) {
      const int u = p.factor * x, v = p.factor * (y + p.first_row), beyond = p.factor - 1 + reach;
      if (validity(x, y) == 0 && is_flat(image, std::max(0, u - reach), std::min(image.width - 1, u + beyond),
                                         std::max(0, v - reach), std::min(image.height - 1, v + beyond)))
        validity(x, y) = validity::filled;
    }
}

template void oracle(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint8_t>);
template void oracle(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint8_t>);
template void oracle(const Parameters&, ImageView<const float>, ImageView<std::uint8_t>);

}  // namespace stereopsis::contrast
