#include <algorithm>
#include <vector>

#include "stages/scanline/scanline.hpp"

namespace stereopsis::scanline {
namespace {

int difference(ImageView<const std::uint8_t> image, int x, int y, int u, int v) {
  int largest = 0;
  for (int c = 0; c < image.channels; ++c)
    largest = std::max(largest, std::abs(image.clamped(x, y, c) - image.clamped(u, v, c)));
  return largest;
}

// Returns L_r of the pixel from that of the previous pixel on the path.
std::vector<int> next(const Parameters& p, const Images& images, int min_disparity, const std::vector<int>& costs,
                      const std::vector<int>& before, int x, int y, int dx, int dy) {
  const auto table = penalties(p);
  const int count = static_cast<int>(costs.size());
  const int lowest = *std::min_element(before.begin(), before.end());
  const bool left_differs = difference(images.left, x, y, x - dx, y - dy) >= p.colour;
  std::vector<int> path(count);
  for (int k = 0; k < count; ++k) {
    // Outside the image, the two right pixels are also treated as neighbours, although they are the same pixel.
    const int x_right = x - min_disparity - k;
    const bool right_differs = difference(images.right, x_right, y, x_right - dx, y - dy) >= p.colour;
    const auto [p1, p2] = table[left_differs + right_differs];
    int best = std::min(before[k], lowest + p2);
    if (k > 0) best = std::min(best, before[k - 1] + p1);
    if (k + 1 < count) best = std::min(best, before[k + 1] + p1);
    path[k] = costs[k] + best - lowest;
  }
  return path;
}

}  // namespace

void oracle(const Parameters& p, const Images& images, int min_disparity, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> sums) {
  check(p);
  const int width = costs.width, height = costs.height, count = costs.disparities;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) std::fill_n(&sums(x, y, 0), count, 0);
  struct Direction {
    int dx, dy;
  };
  for (const auto [dx, dy] : {Direction{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
    std::vector<std::vector<int>> paths(static_cast<std::size_t>(width) * height);
    for (int i = 0; i < width * height; ++i) {
      const int at = dx + dy > 0 ? i : width * height - 1 - i, x = at % width, y = at / width;
      std::vector<int> cell(count);
      for (int k = 0; k < count; ++k) cell[k] = costs(x, y, k);
      const bool starts = x - dx < 0 || x - dx >= width || y - dy < 0 || y - dy >= height;
      auto& path = paths[at];
      path = starts ? cell : next(p, images, min_disparity, cell, paths[(y - dy) * width + x - dx], x, y, dx, dy);
      for (int k = 0; k < count; ++k) sums(x, y, k) = static_cast<std::uint16_t>(sums(x, y, k) + path[k]);
    }
  }
}

}  // namespace stereopsis::scanline
