#include <algorithm>
#include <cstdlib>

#include "stages/belief_propagation/belief_propagation.hpp"

namespace stereopsis::belief_propagation {
namespace {

using Values = std::vector<int>;  // indexed by disparity

struct Node {
  Values costs;
  std::array<Values, 4> messages;  // messages received
  bool waits = true;               // true if the pixel still has to send its messages
};
struct Grid {
  Size size;
  std::vector<Node> nodes;

  Node& operator()(int x, int y) { return nodes[static_cast<std::size_t>(y) * size.width + x]; }
  bool has(int x, int y) const { return x >= 0 && y >= 0 && x < size.width && y < size.height; }
};

Values sum_of(const Node& node, int but = -1) {
  Values sum = node.costs;
  for (int i = 0; i < 4; ++i)
    if (i != but)
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += node.messages[i][k];
  return sum;
}

Values message(const Parameters& p, const Values& h) {
  const int lowest = *std::min_element(h.begin(), h.end()), count = static_cast<int>(h.size());
  Values m(h.size(), lowest + p.truncation);
  for (int d = 0; d < count; ++d)
    for (int k = 0; k < count; ++k) {
      const std::int64_t change = std::min<std::int64_t>(std::int64_t{p.slope} * std::abs(d - k), p.truncation);
      m[d] = std::min(m[d], h[k] + static_cast<int>(change));
    }
  for (int& value : m) value -= lowest;
  return m;
}

void pass_messages(const Parameters& p, Grid& grid, int x, int y) {
  Node& node = grid(x, y);
  if (!node.waits) return;
  node.waits = false;
  for (int i = 0; i < 4; ++i) {
    const int u = x + directions[i].dx, v = y + directions[i].dy;
    if (!grid.has(u, v)) continue;
    const Values m = message(p, sum_of(node, i ^ 1));
    Values& old = grid(u, v).messages[i];
    for (std::size_t k = 0; k < m.size(); ++k)
      if (std::abs(m[k] - old[k]) > p.convergence) grid(u, v).waits = true;
    old = m;
  }
}

Grid coarser(Grid& fine, int disparities) {
  const Size size = half(fine.size);
  Grid grid{size, std::vector<Node>(static_cast<std::size_t>(size.width) * size.height)};
  for (Node& node : grid.nodes) {
    node.costs.assign(disparities, 0);
    node.messages.fill(Values(disparities, 0));
  }
  for (int y = 0; y < fine.size.height; ++y)
    for (int x = 0; x < fine.size.width; ++x)
      for (int k = 0; k < disparities; ++k) grid(x / 2, y / 2).costs[k] += fine(x, y).costs[k];
  return grid;
}

}  // namespace

void oracle(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums) {
  check(p);
  const Size size{costs.width, costs.height};
  std::vector<Grid> levels(1, {size, std::vector<Node>(static_cast<std::size_t>(size.width) * size.height)});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      Node& node = levels[0](x, y);
      node.costs.assign(costs.pixel(x, y), costs.pixel(x, y) + costs.disparities);
      node.messages.fill(Values(costs.disparities, 0));
    }
  while (static_cast<int>(levels.size()) < p.levels) levels.push_back(coarser(levels.back(), costs.disparities));
  for (int l = p.levels - 1; l >= 0; --l) {
    Grid& grid = levels[l];
    if (l + 1 < p.levels)
      for (int y = 0; y < grid.size.height; ++y)
        for (int x = 0; x < grid.size.width; ++x) grid(x, y).messages = levels[l + 1](x / 2, y / 2).messages;
    for (int turn = 0; turn < 2 * p.iterations; ++turn)
      for (int y = 0; y < grid.size.height; ++y)
        for (int x = 0; x < grid.size.width; ++x)
          if ((x + y + turn) % 2 == 0) pass_messages(p, grid, x, y);
  }
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Values sum = sum_of(levels[0](x, y));
      std::copy(sum.begin(), sum.end(), sums.pixel(x, y));
    }
}

}  // namespace stereopsis::belief_propagation
