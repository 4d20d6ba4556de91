#include <vector>

#include "stages/black_border/black_border.hpp"

namespace stereopsis::black_border {
namespace {

bool is_at_border(const Pixel& p, Size size) {
  return p.x == 0 || p.y == 0 || p.x == size.width - 1 || p.y == size.height - 1;
}

// Returns the region of a black pixel, whose pixels become `seen`.
template <class T>
std::vector<Pixel> region_of(const ImageView<const T>& image, float level, Pixel start, Image<std::uint8_t>& seen) {
  std::vector<Pixel> region{start};
  seen(start.x, start.y) = 1;
  for (std::size_t i = 0; i < region.size(); ++i) {
    const Pixel p = region[i];
    for (const Pixel q : {Pixel{p.x - 1, p.y}, Pixel{p.x + 1, p.y}, Pixel{p.x, p.y - 1}, Pixel{p.x, p.y + 1}}) {
      if (q.x < 0 || q.y < 0 || q.x >= image.width || q.y >= image.height) continue;
      if (seen(q.x, q.y) != 0 || !is_black(image, level, q.x, q.y)) continue;
      seen(q.x, q.y) = 1;
      region.push_back(q);
    }
  }
  return region;
}

}  // namespace

template <class T>
void oracle(const Parameters& p, const InputOf<T, ImageView>& in, ImageView<std::uint8_t> usable) {
  const Size size = in.image.size();
  Image<std::uint8_t> seen(size), without(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) seen(x, y) = without(x, y) = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      if (seen(x, y) != 0 || !is_at_border({x, y}, size) || !is_black(in.image, p.level, x, y)) continue;
      const std::vector<Pixel> region = region_of(in.image, p.level, {x, y}, seen);
      if (region.size() < fewest) continue;
      for (const Pixel& q : region) without(q.x, q.y) = 1;
    }
  for (int y = 0; y < usable.height; ++y)
    for (int x = 0; x < usable.width; ++x) {
      const bool has_data = without(p.first.x + x, p.first.y + y) == 0;
      usable(x, y) = has_data && is_given(in.mask, x, y) ? 255 : 0;
    }
}

template void oracle(const Parameters&, const InputOf<std::uint8_t, ImageView>&, ImageView<std::uint8_t>);
template void oracle(const Parameters&, const InputOf<std::uint16_t, ImageView>&, ImageView<std::uint8_t>);
template void oracle(const Parameters&, const InputOf<float, ImageView>&, ImageView<std::uint8_t>);

}  // namespace stereopsis::black_border
