#include <map>

#include "stages/region_voting/region_voting.hpp"

namespace stereopsis::region_voting {
namespace {

float vote(const Parameters& p, ImageView<const std::uint32_t> arms, ImageView<const float> disparity, int x, int y) {
  std::map<int, int> votes;
  int all = 0;
  const cross::Arms own = cross::arms_of(arms(x, y));
  for (int v = y - own.up; v <= y + own.down; ++v) {
    const cross::Arms other = cross::arms_of(arms(x, v));
    for (int u = x - other.left; u <= x + other.right; ++u) {
      const int bin = bin_of(disparity(u, v));
      if (bin == nothing) continue;
      ++votes[bin];
      ++all;
    }
  }
  int most = 0, best = 0;
  for (const auto& [bin, count] : votes)
    if (count > most) {
      most = count;
      best = bin;
    }
  return wins(p, most, all) ? static_cast<float>(best) : invalid_disparity;
}

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint32_t> arms, const Map& map) {
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    const Image<float> seen{ImageView<const float>(map.disparity)};
    for (int y = 0; y < seen.height(); ++y)
      for (int x = 0; x < seen.width(); ++x) {
        std::uint8_t& validity = map.validity(x, y);
        if (!std::isnan(seen(x, y)) || (validity & (validity::masked | validity::outside)) != 0) continue;
        const float voted = vote(p, arms, seen, x, y);
        if (std::isnan(voted)) continue;
        map.disparity(x, y) = voted;
        validity = static_cast<std::uint8_t>((validity & ~validity::reasons) | validity::filled);
      }
  }
}

}  // namespace stereopsis::region_voting
