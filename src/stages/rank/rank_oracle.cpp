#include "stages/rank/rank.hpp"

namespace stereopsis::rank {

template <class T>
void oracle(const Parameters& p, ImageView<const T> grey, ImageView<std::uint8_t> ranks) {
  const int radius = p.window / 2;
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) {
      int rank = 0;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) rank += grey.clamped(x + dx, y + dy) < grey(x, y);
      ranks(x, y) = static_cast<std::uint8_t>(rank);
    }
}

template void oracle(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint8_t>);
template void oracle(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint8_t>);
template void oracle(const Parameters&, ImageView<const float>, ImageView<std::uint8_t>);

}  // namespace stereopsis::rank
