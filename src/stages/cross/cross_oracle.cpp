#include "stages/cross/cross.hpp"

namespace stereopsis::cross {
namespace {

struct Pixel {
  int x, y;
};

int difference(ImageView<const std::uint8_t> image, Pixel a, Pixel b) {
  int largest = 0;
  for (int c = 0; c < image.channels; ++c)
    largest = std::max(largest, std::abs(image(a.x, a.y, c) - image(b.x, b.y, c)));
  return largest;
}

int arm(const Parameters& p, ImageView<const std::uint8_t> image, Pixel start, int dx, int dy) {
  int n = 1;
  for (;; ++n) {
    const Pixel end{start.x + n * dx, start.y + n * dy}, before{end.x - dx, end.y - dy};
    if (end.x < 0 || end.y < 0 || end.x >= image.width || end.y >= image.height) break;
    if (n >= p.length) break;
    const int colour = difference(image, end, start);
    if (colour >= p.colour || difference(image, end, before) >= p.colour) break;
    if (n > p.short_length && colour >= p.strict_colour) break;
  }
  return n - 1;
}

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint8_t> image, ImageView<std::uint32_t> arms) {
  check(p, image.size());
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      arms(x, y) = word_of({arm(p, image, {x, y}, -1, 0), arm(p, image, {x, y}, 1, 0), arm(p, image, {x, y}, 0, -1),
                            arm(p, image, {x, y}, 0, 1)});
}

}  // namespace stereopsis::cross
