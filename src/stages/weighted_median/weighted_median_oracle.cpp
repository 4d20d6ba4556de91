#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stages/weighted_median/weighted_median.hpp"

namespace stereopsis::weighted_median {

void oracle(const Parameters& p, const Input& in, ImageView<float> filtered) {
  check_not_in_place(in.disparity, filtered);
  const Weights table = weights(p);
  const int width = filtered.width, height = filtered.height, last = in.image.channels - 1;
  std::vector<std::pair<float, std::uint32_t>> window;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      filtered(x, y) = in.disparity(x, y);
      if ((in.validity(x, y) & validity::filled) == 0 || std::isnan(in.disparity(x, y))) continue;
      window.clear();
      std::uint64_t total = 0;
      for (int v = std::max(y - p.radius, 0); v <= std::min(y + p.radius, height - 1); ++v)
        for (int u = std::max(x - p.radius, 0); u <= std::min(x + p.radius, width - 1); ++u) {
          if (std::isnan(in.disparity(u, v))) continue;
          const auto colour = [&](int c) -> std::uint32_t {
            return table.colour[std::abs(in.image(x, y, c) - in.image(u, v, c))];
          };
          const std::uint32_t weight = weight_of(table.distance[std::abs(u - x)], table.distance[std::abs(v - y)],
                                                 colour(0), colour(std::min(1, last)), colour(last));
          window.emplace_back(in.disparity(u, v) + 0.0f, weight);
          total += weight;
        }
      std::sort(window.begin(), window.end());
      std::uint64_t sum = 0;
      for (const auto& [disparity, weight] : window) {
        sum += weight;
        if (2 * sum < total) continue;
        filtered(x, y) = disparity;
        break;
      }
    }
}

}  // namespace stereopsis::weighted_median
