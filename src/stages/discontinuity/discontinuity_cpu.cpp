#include <cmath>
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/discontinuity/discontinuity.hpp"

namespace stereopsis::discontinuity {
namespace {

constexpr int no_cost = std::numeric_limits<int>::max();

// Returns the cost of a disparity, which may be NaN.
int cost_of(const std::uint16_t* costs, int count, int min_disparity, float disparity) {
  const float k = std::floor(disparity + 0.5f) - static_cast<float>(min_disparity);
  return k >= 0 && k < static_cast<float>(count) ? costs[static_cast<int>(k)] : no_cost;
}

}  // namespace

void cpu(const Parameters& p, VolumeView<const std::uint16_t> costs, int min_disparity,
         ImageView<const float> disparity, ImageView<float> adjusted, Threads& threads) {
  check_not_in_place(disparity, adjusted);
  const auto edge = static_cast<float>(p.edge);
  const int last_x = disparity.width - 1, count = costs.disparities;
  threads.rows(disparity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      const float* const row = disparity.row(y);
      for (int x = 0; x <= last_x; ++x) {
        const float here = row[x], left = row[std::max(x - 1, 0)], right = row[std::min(x + 1, last_x)];
        adjusted(x, y) = here;
        if (!(std::abs(left - here) > edge) && !(std::abs(right - here) > edge)) continue;
        const std::uint16_t* const at = costs.pixel(x, y);
        int lowest = cost_of(at, count, min_disparity, here);
        const auto offer = [&](float d, int u) {
          const int cost = u < 0 || u > last_x ? no_cost : cost_of(at + (u - x) * count, count, min_disparity, d);
          if (cost >= lowest) return;
          lowest = cost;
          adjusted(x, y) = d;
        };
        offer(left, x - 1);
        offer(right, x + 1);
      }
    }
  });
}

}  // namespace stereopsis::discontinuity
