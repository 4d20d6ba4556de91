#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/median/median.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::median {

void oracle(const Parameters& p, ImageView<const float> disparity, ImageView<float> filtered) {
  check_not_in_place(disparity, filtered);
  const int radius = p.window / 2;
  std::vector<float> valid;
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      valid.clear();
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
          const float d = disparity.clamped(x + dx, y + dy);
          if (!std::isnan(d)) valid.push_back(d == 0 ? 0.0f : d);
        }
      std::sort(valid.begin(), valid.end());
      filtered(x, y) = std::isnan(disparity(x, y)) ? invalid_disparity : valid[(valid.size() - 1) / 2];
    }
}

}  // namespace stereopsis::median
