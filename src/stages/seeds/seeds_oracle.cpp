#include <cstdlib>

#include "stages/seeds/seeds.hpp"

namespace stereopsis::seeds {

void oracle(const Parameters& p, ImageView<const std::uint32_t> prior, ImageView<const std::uint32_t> further,
            VolumeView<std::uint8_t> costs) {
  for (const auto& seeds : {prior, further})
    for (int y = 0; y < seeds.height; ++y)
      for (int x = 0; x < seeds.width; ++x) {
        const int value = static_cast<int>(seeds(x, y) >> 8), weight = static_cast<int>(seeds(x, y) & 255);
        for (int k = 0; k < costs.disparities; ++k) {
          const int term = p.weight * weight * std::min(std::abs(16 * k - value), width) / 16384;
          const int cost = costs(x, y, k);
          costs(x, y, k) = static_cast<std::uint8_t>(std::max(cost, std::min(cost + term, most_sum)));
        }
      }
}

}  // namespace stereopsis::seeds
