#include <cmath>
#include <limits>

#include "stages/discontinuity/discontinuity.hpp"

namespace stereopsis::discontinuity {
namespace {

constexpr int no_cost = std::numeric_limits<int>::max();

int cost_of(VolumeView<const std::uint16_t> costs, int min_disparity, float disparity, int x, int y) {
  const float k = std::floor(disparity + 0.5f) - static_cast<float>(min_disparity);
  return k >= 0 && k < static_cast<float>(costs.disparities) ? costs(x, y, static_cast<int>(k)) : no_cost;
}

}  // namespace

void oracle(const Parameters& p, VolumeView<const std::uint16_t> costs, int min_disparity,
            ImageView<const float> disparity, ImageView<float> adjusted) {
  check_not_in_place(disparity, adjusted);
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const float here = disparity(x, y);
      adjusted(x, y) = here;
      const auto differs = [&](int u) {
        return u >= 0 && u < disparity.width && std::abs(disparity(u, y) - here) > static_cast<float>(p.edge);
      };
      if (std::isnan(here) || (!differs(x - 1) && !differs(x + 1))) continue;
      int lowest = cost_of(costs, min_disparity, here, x, y);
      for (const int u : {x - 1, x + 1}) {
        if (u < 0 || u >= disparity.width || std::isnan(disparity(u, y))) continue;
        const int cost = cost_of(costs, min_disparity, disparity(u, y), u, y);
        if (cost >= lowest) continue;
        lowest = cost;
        adjusted(x, y) = disparity(u, y);
      }
    }
}

}  // namespace stereopsis::discontinuity
