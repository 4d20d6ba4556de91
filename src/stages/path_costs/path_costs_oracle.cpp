#include <algorithm>
#include <vector>

#include "stages/path_costs/path_costs.hpp"

namespace stereopsis::path_costs {
namespace {

// Returns L_r of a pixel from L_r of its predecessor, which is empty at the start of the path.
std::vector<int> path_cost(const std::vector<int>& costs, const std::vector<int>& previous, int p1, int p2) {
  if (previous.empty()) return costs;
  const int lowest = *std::min_element(previous.begin(), previous.end()), count = static_cast<int>(costs.size());
  std::vector<int> path(costs);
  for (int d = 0; d < count; ++d) {
    int best = std::min(previous[d], lowest + p2);
    if (d > 0) best = std::min(best, previous[d - 1] + p1);
    if (d + 1 < count) best = std::min(best, previous[d + 1] + p1);
    path[d] += best - lowest;
  }
  return path;
}

// Returns C(p, d) of the candidate with index d.
template <class Kind>
int cost_of(const Input<Kind>& in, int x, int y, int d) {
  if constexpr (std::is_same_v<Kind, cost::Given>)
    return std::min<int>(in.source.kind.volume(x, y, d), in.source.kind.largest);
  else
    return cost::evaluate(in.source, x, y, in.min_disparity + d);
}

}  // namespace

template <class Kind>
void oracle(const Parameters& p, const Input<Kind>& in, ImageView<std::uint16_t> behind) {
  const int width = in.source.left.width, height = in.source.left.height, count = in.disparities;
  const sgm::Penalties p2 = sgm::penalties(p.sgm);
  for_each_direction(p, [&](sgm::Direction r) {
    std::vector<std::vector<int>> row(width);  // L_r of the previous row; empty if the paths start here
    if (!in.before.empty())
      for (int x = 0; x < width; ++x)
        for (int d = 0; d < count; ++d) row[x].push_back(in.before(x, sgm::kind_of(r), d));
    for (int n = 0; n < height; ++n) {
      const int y = p.up ? height - 1 - n : n;
      std::vector<std::vector<int>> here(width);
      for (int x = 0; x < width; ++x) {
        std::vector<int> costs(count);
        for (int d = 0; d < count; ++d) costs[d] = cost_of(in, x, y, d);
        const int from = x - r.dx;
        const bool begins = from < 0 || from >= width || row[from].empty();
        const int gradient = begins || !p.sgm.adaptive() ? 0 : std::abs(in.guide(x, y) - in.guide(from, y - r.dy));
        here[x] = path_cost(costs, begins ? std::vector<int>() : row[from], p.sgm.p1, p2[gradient]);
      }
      row = here;
    }
    for (int x = 0; x < width; ++x) {
      const int lowest = *std::min_element(row[x].begin(), row[x].end());
      for (int d = 0; d < count; ++d) behind(x, sgm::kind_of(r), d) = static_cast<std::uint16_t>(row[x][d] - lowest);
    }
  });
}

#define STEREOPSIS_INSTANCE(Kind) template void oracle(const Parameters&, const Input<Kind>&, ImageView<std::uint16_t>);
STEREOPSIS_INSTANCE(cost::Rank)
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::CensusGradient)
STEREOPSIS_INSTANCE(cost::Given)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::path_costs
