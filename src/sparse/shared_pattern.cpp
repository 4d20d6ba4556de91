#include "sparse/shared_pattern.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace stereopsis::sparse {
namespace {

constexpr int around = 6;  // disparities on both sides of 0
constexpr int radius = 8;  // half the side of a window
constexpr int candidates = 2 * around + 1;
using Correlations = std::array<double, candidates>;

// Returns the difference from the four neighbours. Strong edges are limited, so that they do not outweigh weak texture.
int residual(const Level& level, int x, int y) {
  constexpr int most = 32 * units;
  const std::int16_t* row = level.row(y);
  const int difference = 4 * row[x] - row[x - 1] - row[x + 1] - level(x, y - 1) - level(x, y + 1);
  return std::clamp(difference, -most, most);
}

// Returns the correlations of the window around (x, y) at the disparities −around to around.
Correlations correlations(const Level& left, const Level& right, int x, int y) {
  std::array<std::int64_t, candidates> products = {}, squares = {};
  std::int64_t own = 0;
  for (int v = y - radius; v < y + radius; ++v)
    for (int u = x - radius; u < x + radius; ++u) {
      const int here = residual(left, u, v);
      own += here * here;
      for (int k = 0; k < candidates; ++k) {
        const int there = residual(right, u - (k - around), v);
        products[static_cast<std::size_t>(k)] += here * there;
        squares[static_cast<std::size_t>(k)] += there * there;
      }
    }
  Correlations found;
  for (std::size_t k = 0; k < candidates; ++k) {
    const double norm = std::sqrt(static_cast<double>(own) * static_cast<double>(squares[k]));
    found[k] = norm > 0 ? static_cast<double>(products[k]) / norm : 0;
  }
  return found;
}

// Returns the largest correlation that is not next to that of disparity 0.
double largest_around(const Correlations& found) {
  double largest = -1;
  for (int k = 0; k < candidates; ++k)
    if (std::abs(k - around) > 1) largest = std::max(largest, found[static_cast<std::size_t>(k)]);
  return largest;
}

}  // namespace

SharedPattern shared_pattern(const std::vector<Match>& matches, const Level& left, const Level& right) {
  constexpr double least_elsewhere = around + 2;  // pixels
  constexpr int margin = around + radius + 2;
  SharedPattern shared;
  Correlations sum = {};
  for (const Match& m : matches) {
    const bool inside = m.x >= margin && m.x < left.width() - margin && m.y >= margin && m.y < left.height() - margin;
    if (!inside || std::abs(m.dx) < least_elsewhere || fits_within(-2, 2, m, left, right)) continue;
    const Correlations found = correlations(left, right, m.x, m.y);
    for (std::size_t k = 0; k < candidates; ++k) sum[k] += found[k];
    ++shared.points;
  }
  if (shared.points == 0) return shared;
  shared.spike = (sum[around] - largest_around(sum)) / shared.points;
  shared.share = static_cast<double>(shared.points) / static_cast<double>(matches.size());
  return shared;
}

}  // namespace stereopsis::sparse
