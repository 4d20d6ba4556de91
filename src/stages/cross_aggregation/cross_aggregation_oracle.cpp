#include "stages/cross_aggregation/cross_aggregation.hpp"

namespace stereopsis::cross_aggregation {
namespace {

struct Region {
  const Parameters& p;
  const Arms& arms;
  int disparity;

  cross::Arms arms_at(int x, int y) const {
    const cross::Arms left = cross::arms_of(arms.left(x, y));
    if (p.support == Support::left) return left;
    return cross::common(left, cross::arms_of(arms.right.clamped(x - disparity, y)));
  }

  // Calls f(u, v) for the pixels of the region of (x, y).
  template <class F>
  void for_each(int x, int y, bool rows_first, F&& f) const {
    const cross::Arms own = arms_at(x, y);
    if (rows_first) {
      for (int v = y - own.up; v <= y + own.down; ++v) {
        const cross::Arms other = arms_at(x, v);
        for (int u = x - other.left; u <= x + other.right; ++u) f(u, v);
      }
    } else {
      for (int u = x - own.left; u <= x + own.right; ++u) {
        const cross::Arms other = arms_at(u, y);
        for (int v = y - other.up; v <= y + other.down; ++v) f(u, v);
      }
    }
  }
};

}  // namespace

void oracle(const Parameters& p, const Arms& arms, int min_disparity, VolumeView<std::uint8_t> costs) {
  check_images(p, arms);
  for (int iteration = 0; iteration < p.iterations; ++iteration)
    for (int k = 0; k < costs.disparities; ++k) {
      Image<std::uint8_t> means(costs.width, costs.height);
      const Region region{p, arms, min_disparity + k};
      for (int y = 0; y < costs.height; ++y)
        for (int x = 0; x < costs.width; ++x) {
          std::uint64_t sum = 0, pixels = 0;
          region.for_each(x, y, iteration % 2 == 0, [&](int u, int v) {
            sum += costs(u, v, k);
            ++pixels;
          });
          means(x, y) = static_cast<std::uint8_t>((sum + pixels / 2) / pixels);
        }
      for (int y = 0; y < costs.height; ++y)
        for (int x = 0; x < costs.width; ++x) costs(x, y, k) = means(x, y);
    }
}

}  // namespace stereopsis::cross_aggregation
