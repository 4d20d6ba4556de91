#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "stages/remeasure/remeasure.hpp"

namespace stereopsis::remeasure {
namespace {

int cost(const Input& in, int x, int y, int d) {
  int sum = 0;
  for (int j = -reach; j <= reach; ++j)
    for (int i = -reach; i <= reach; ++i)
      sum += std::popcount(in.left.clamped(x + i, y + j) ^ in.right.clamped(x + i - d, y + j));
  return sum;
}

// Returns D', or nothing if the images do not agree with the disparity.
std::optional<float> measured(const Parameters& p, const Input& in, DisparityRange range, int x, int y, float before) {
  const int b = static_cast<int>(std::floor(before + 0.5f));
  if (x - b - span < 0 || x - b + span >= in.right.width) return {};
  std::array<int, 2 * span + 1> costs;
  for (int k = -span; k <= span; ++k) costs[k + span] = cost(in, x, y, b + k);
  const int best = static_cast<int>(std::ranges::min_element(costs) - costs.begin());
  if (best == 0 || best == 2 * span) return {};
  const int whole = b + best - span, below = costs[best - 1], above = costs[best + 1];
  const int rise = std::max(below, above) - costs[best];
  if (rise == 0 || whole < range.min || whole > range.max()) return {};
  const float d = static_cast<float>(whole) + static_cast<float>(below - above) / static_cast<float>(2 * rise);
  if (std::abs(d - before) > static_cast<float>(p.tolerance)) return {};
  return d;
}

}  // namespace

void oracle(const Parameters& p, const Input& in, DisparityRange range, ImageView<float> disparity,
            ImageView<std::uint8_t> validity) {
  const float least = static_cast<float>(p.confidence);
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      float& d = disparity(x, y);
      const float confidence = in.confidence(x, y);
      if (validity(x, y) == 0) {
        if (!(confidence >= least)) validity(x, y) = validity::filled;
      } else if (may_match(d, confidence, least)) {
        const std::optional<float> again = measured(p, in, range, x, y, d);
        if (again) d = *again, validity(x, y) = 0;
      }
    }
}

}  // namespace stereopsis::remeasure
