#include <cmath>
#include <vector>

#include "stages/speckle/speckle.hpp"

namespace stereopsis::speckle {

void oracle(const Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity) {
  struct Pixel {
    int x, y;
  };
  const Image<float> input(disparity);
  Image<std::uint8_t> seen(disparity.size(), 1, 0);
  const auto visit = [&](std::vector<Pixel>& region, Pixel pixel) {
    seen(pixel.x, pixel.y) = 1;
    region.push_back(pixel);
  };
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      if (seen(x, y) || std::isnan(input(x, y))) continue;
      std::vector<Pixel> region;
      visit(region, {x, y});
      for (std::size_t i = 0; i < region.size(); ++i) {
        const Pixel at = region[i];
        for (const Pixel next : {Pixel{at.x - 1, at.y}, {at.x + 1, at.y}, {at.x, at.y - 1}, {at.x, at.y + 1}}) {
          if (next.x < 0 || next.y < 0 || next.x >= input.width() || next.y >= input.height()) continue;
          if (seen(next.x, next.y)) continue;
          const float difference = std::abs(input(next.x, next.y) - input(at.x, at.y));
          if (difference <= static_cast<float>(p.difference)) visit(region, next);
        }
      }
      if (static_cast<int>(region.size()) >= p.size) continue;
      for (const Pixel pixel : region) {
        disparity(pixel.x, pixel.y) = invalid_disparity;
        validity(pixel.x, pixel.y) |= validity::speckle;
      }
    }
}

}  // namespace stereopsis::speckle
