#include <algorithm>
#include <map>

#include "stages/segment_support/segment_support.hpp"

namespace stereopsis::segment_support {
namespace {

struct Sum {
  long long costs = 0, pixels = 0;

  int mean() const { return static_cast<int>((128 * costs + pixels / 2) / pixels); }
};

Sum window_sum(const Parameters& p, VolumeView<const std::uint8_t> costs, int x, int y, int k) {
  Sum sum;
  for (int dy = -p.window / 2; dy <= p.window / 2; ++dy)
    for (int dx = -p.window / 2; dx <= p.window / 2; ++dx, ++sum.pixels)
      sum.costs += costs(std::clamp(x + dx, 0, costs.width - 1), std::clamp(y + dy, 0, costs.height - 1), k);
  return sum;
}

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs,
            VolumeView<std::uint16_t> aggregated) {
  for (int k = 0; k < costs.disparities; ++k) {
    std::map<std::uint32_t, Sum> sums;
    for (int y = 0; y < costs.height; ++y)
      for (int x = 0; x < costs.width; ++x) {
        Sum& sum = sums[segments(x, y)];
        sum.costs += costs(x, y, k);
        ++sum.pixels;
      }
    for (int y = 0; y < costs.height; ++y)
      for (int x = 0; x < costs.width; ++x)
        aggregated(x, y, k) =
            static_cast<std::uint16_t>(sums[segments(x, y)].mean() + window_sum(p, costs, x, y, k).mean());
  }
}

}  // namespace stereopsis::segment_support
