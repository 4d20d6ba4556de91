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

constexpr double least_elsewhere = around + 2;  // pixels
constexpr int margin = around + radius + 2;

bool is_inside(const Match& m, const Level& level) {
  return m.x >= margin && m.x < level.width() - margin && m.y >= margin && m.y < level.height() - margin;
}

// Returns whether the windows around (x, y) in two frames of one camera are alike, and less alike if one is moved.
bool stays(const Level& frame, const Level& other, const Match& m) {
  const Correlations found = correlations(frame, other, m.x, m.y);
  return found[around] >= 0.4 && found[around] - largest_around(found) >= 0.15;
}

// Returns whether a point has others around it, in at least three of four quadrants. The horizon has none above.
bool is_amid(const Match& m, const std::vector<Match>& others, int reach) {
  std::array<bool, 4> quadrants = {};
  for (const Match& other : others)
    if (std::abs(other.x - m.x) <= reach && std::abs(other.y - m.y) <= reach)
      quadrants[static_cast<std::size_t>(2 * (other.y > m.y) + (other.x > m.x))] = true;
  return std::ranges::count(quadrants, true) >= 3;
}

}  // namespace

FixedPattern fixed_pattern(const std::vector<Match>& matches, const Level& left, const Level& right,
                           const Level& other_left, const Level& other_right) {
  constexpr double most = 0.5;  // pixels, of a point with disparity 0
  std::vector<Match> at_zero, others;
  for (const Match& m : matches) {
    if (!is_inside(m, left)) continue;
    if (std::abs(m.dx) >= least_elsewhere) others.push_back(m);
    if (std::abs(m.dx) <= most && std::abs(m.dy) <= most) at_zero.push_back(m);
  }
  FixedPattern fixed{.others = static_cast<int>(others.size())};
  for (const Match& m : others) fixed.still += stays(left, other_left, m);
  for (const Match& m : at_zero)
    fixed.points += is_amid(m, others, left.width() / 6) && stays(left, other_left, m) && stays(right, other_right, m);
  return fixed;
}

SharedPattern shared_pattern(const std::vector<Match>& matches, const Level& left, const Level& right) {
  SharedPattern shared;
  Correlations sum = {};
  for (const Match& m : matches) {
    if (!is_inside(m, left) || std::abs(m.dx) < least_elsewhere || fits_within(-2, 2, m, left, right)) continue;
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
