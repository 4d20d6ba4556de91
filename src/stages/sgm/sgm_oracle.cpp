#include <algorithm>
#include <vector>

#include "stages/sgm/sgm.hpp"

namespace stereopsis::sgm {
namespace {

// Computes L_r of one pixel from L_r of its predecessor on the path: equation 4.
void extend_path(const std::vector<int>& costs, const std::vector<int>& previous, int p1, int p2,
                 std::vector<int>& path) {
  const int lowest = *std::min_element(previous.begin(), previous.end());
  const int count = static_cast<int>(costs.size());
  for (int d = 0; d < count; ++d) {
    int best = std::min(previous[d], lowest + p2);
    if (d > 0) best = std::min(best, previous[d - 1] + p1);
    if (d + 1 < count) best = std::min(best, previous[d + 1] + p1);
    path[d] = costs[d] + best - lowest;
  }
}

// `cost` returns C(x, y, k).
template <class Cost>
void follow_paths(const Parameters& p, Cost&& cost, ImageView<const std::uint8_t> guide, const Edges& edges,
                  VolumeView<std::uint16_t> sums) {
  const int width = sums.width, height = sums.height, count = sums.disparities;
  const Penalties p2 = penalties(p);
  const auto inside = [&](int x, int y) { return x >= 0 && x < width && y >= 0 && y < height; };
  for (int y = 0; y < height; ++y) std::fill_n(sums.row(y), static_cast<std::size_t>(width) * count, std::uint16_t{0});

  std::vector<int> costs(count), path(count), previous(count);
  for (int r = 0; r < p.paths; ++r) {
    const auto [dx, dy] = directions[r];
    // Every pixel without a predecessor inside the image starts a path.
    for (int start_y = 0; start_y < height; ++start_y)
      for (int start_x = 0; start_x < width; ++start_x) {
        if (inside(start_x - dx, start_y - dy)) continue;
        const auto edge = edges.before(directions[r]);
        const bool enters = dy != 0 && !edge.empty() && inside(start_x - dx, start_y);
        for (int d = 0; enters && d < count; ++d) previous[d] = edge(start_x - dx, kind_of(directions[r]), d);
        for (int x = start_x, y = start_y; inside(x, y); x += dx, y += dy) {
          for (int d = 0; d < count; ++d) costs[d] = cost(x, y, d);
          if (x == start_x && y == start_y && !enters) {
            path = costs;
          } else {
            const int gradient = p.adaptive() ? std::abs(guide(x, y) - guide(x - dx, y - dy)) : 0;
            extend_path(costs, previous, p.p1, p2[gradient], path);
          }
          for (int d = 0; d < count; ++d) sums(x, y, d) = static_cast<std::uint16_t>(sums(x, y, d) + path[d]);
          std::swap(path, previous);
        }
      }
  }
}

}  // namespace

template <class T>
void oracle(const Parameters& p, VolumeView<const T> costs, int max_cost, ImageView<const std::uint8_t> guide,
            const Edges& edges, VolumeView<std::uint16_t> sums) {
  follow_paths(
      p, [&](int x, int y, int d) { return std::min<int>(costs(x, y, d), max_cost); }, guide, edges, sums);
}

template <class Kind>
void oracle(const Parameters& p, const cost::Source<Kind>& source, ImageView<const std::uint8_t> guide,
            int min_disparity, VolumeView<std::uint16_t> sums) {
  follow_paths(
      p, [&](int x, int y, int d) { return cost::evaluate(source, x, y, min_disparity + d); }, guide, {}, sums);
}

template void oracle(const Parameters&, VolumeView<const std::uint8_t>, int, ImageView<const std::uint8_t>,
                     const Edges&, VolumeView<std::uint16_t>);
template void oracle(const Parameters&, VolumeView<const std::uint16_t>, int, ImageView<const std::uint8_t>,
                     const Edges&, VolumeView<std::uint16_t>);
template void oracle(const Parameters&, const cost::Source<cost::Rank>&, ImageView<const std::uint8_t>, int,
                     VolumeView<std::uint16_t>);
template void oracle(const Parameters&, const cost::Source<cost::Census<std::uint32_t>>&, ImageView<const std::uint8_t>,
                     int, VolumeView<std::uint16_t>);
template void oracle(const Parameters&, const cost::Source<cost::Census<std::uint64_t>>&, ImageView<const std::uint8_t>,
                     int, VolumeView<std::uint16_t>);
template void oracle(const Parameters&, const cost::Source<cost::CensusGradient>&, ImageView<const std::uint8_t>, int,
                     VolumeView<std::uint16_t>);

}  // namespace stereopsis::sgm
