#include <algorithm>

#include "stages/sum/sum.hpp"

namespace stereopsis::sum {

void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint8_t> sums) {
  for (int y = 0; y < sums.height; ++y)
    for (int x = 0; x < sums.width; ++x)
      for (int k = 0; k < sums.disparities; ++k) {
        const int weighted = p.cost_weight * costs(x, y, k) + p.plus_weight * sums(x, y, k);
        sums(x, y, k) = static_cast<std::uint8_t>(std::min((weighted + 32) >> 6, 255));
      }
}

}  // namespace stereopsis::sum
