#include <bit>

#include "stages/ad_census/ad_census.hpp"

namespace stereopsis::ad_census {

void oracle(const Parameters& p, const Input& in, int min_disparity, VolumeView<std::uint8_t> costs) {
  const Tables table = tables(p);
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k) {
        const int x_right = x - min_disparity - k;
        int differences = 0;
        for (int c = 0; c < 3; ++c) {
          const int channel = std::min(c, in.left.channels - 1);
          differences += std::abs(in.left(x, y, channel) - in.right.clamped(x_right, y, channel));
        }
        const int hamming = std::popcount(in.left_census(x, y) ^ in.right_census.clamped(x_right, y));
        costs(x, y, k) = static_cast<std::uint8_t>(table.colour[differences] + table.census[hamming]);
      }
}

}  // namespace stereopsis::ad_census
