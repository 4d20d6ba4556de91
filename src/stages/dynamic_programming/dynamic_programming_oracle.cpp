#include <algorithm>
#include <cstdlib>
#include <vector>

#include "stages/dynamic_programming/dynamic_programming.hpp"

namespace stereopsis::dynamic_programming {
namespace {

using Costs = std::vector<std::vector<int>>;  // the costs of all pixels of a row

// Returns the lowest E of sequences from the start of a row to x with disparity d, minus the lowest E of sequences that
// end at the previous pixel.
Costs pass(const Parameters& p, const Costs& costs, int first, int step) {
  Costs path(costs.size());
  const int width = static_cast<int>(costs.size());
  for (int x = first; x >= 0 && x < width; x += step) {
    path[x] = costs[x];
    if (x == first) continue;
    const std::vector<int>& before = path[x - step];
    const int lowest = *std::min_element(before.begin(), before.end());
    for (std::size_t k = 0; k < path[x].size(); ++k) {
      int best = before[k];
      for (std::size_t j = 0; j < before.size(); ++j) {
        if (j == k) continue;
        const bool is_near = j + 1 == k || k + 1 == j;
        best = std::min(best, before[j] + (is_near ? p.p1 : p.p2));
      }
      path[x][k] += best - lowest;
    }
  }
  return path;
}

}  // namespace

void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums) {
  check(p);
  for (int y = 0; y < costs.height; ++y) {
    Costs row(costs.width);
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k) row[x].push_back(costs(x, y, k));
    const Costs forward = pass(p, row, 0, 1), backward = pass(p, row, costs.width - 1, -1);
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k)
        sums(x, y, k) = static_cast<std::uint16_t>(forward[x][k] + backward[x][k] - row[x][k]);
  }
}

}  // namespace stereopsis::dynamic_programming
