#include <algorithm>
#include <optional>

#include "stages/wta/wta.hpp"

namespace stereopsis::wta {
namespace {

bool usable(ImageView<const std::uint8_t> mask, int x, int y) { return mask.empty() || mask.clamped(x, y) != 0; }

void select_left(const Parameters& p, const Input& in, VolumeView<const std::uint16_t> costs, int x, int y,
                 const Output& out) {
  const auto range = candidates(p, x, costs.width, in.min_disparity, costs.disparities);
  const auto cost = [&](int k) -> std::optional<int> {
    if (k < range.first || k > range.last || !usable(in.mask_right, x - in.min_disparity - k, y)) return std::nullopt;
    if (costs(x, y, k) == no_cost) return std::nullopt;
    return costs(x, y, k);
  };
  const auto set = [&](float disparity, std::uint8_t validity, float confidence) {
    out.disparity(x, y) = disparity;
    out.validity(x, y) = validity;
    if (!out.confidence.empty()) out.confidence(x, y) = confidence;
  };
  if (!usable(in.mask_left, x, y)) return set(invalid_disparity, validity::masked, 0);

  int best = -1;
  for (int k = 0; k < costs.disparities; ++k)
    if (cost(k) && (best < 0 || *cost(k) < *cost(best))) best = k;
  if (best < 0) return set(invalid_disparity, validity::no_candidate, 0);

  std::optional<int> second;
  for (int k = 0; k < costs.disparities; ++k)
    if (cost(k) && std::abs(k - best) > 1) second = std::min(second.value_or(65535), *cost(k));
  if (p.uniqueness > 0 && second && *second * (100 - p.uniqueness) < *cost(best) * 100)
    return set(invalid_disparity, validity::ambiguous, 0);

  const bool between = cost(best - 1) && cost(best + 1);
  const float offset = between ? subpixel_offset(p.subpixel, *cost(best - 1), *cost(best), *cost(best + 1)) : 0.0f;
  set(static_cast<float>(in.min_disparity + best) + offset, 0, second ? confidence_of(*cost(best), *second) : 1.0f);
}

float select_right(const Input& in, VolumeView<const std::uint16_t> costs, int x_right, int y) {
  if (!usable(in.mask_right, x_right, y)) return invalid_disparity;
  int best = -1, lowest = 0;
  for (int k = 0; k < costs.disparities; ++k) {
    const int x = x_right + in.min_disparity + k;
    if (x < 0 || x >= costs.width || !usable(in.mask_left, x, y) || costs(x, y, k) == no_cost) continue;
    if (best >= 0 && costs(x, y, k) >= lowest) continue;
    best = k;
    lowest = costs(x, y, k);
  }
  return best < 0 ? invalid_disparity : static_cast<float>(in.min_disparity + best);
}

}  // namespace

void oracle(const Parameters& p, const Input& in, VolumeView<const std::uint16_t> costs, const Output& out) {
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x) {
      select_left(p, in, costs, x, y, out);
      if (!out.right.empty()) out.right(x, y) = select_right(in, costs, x, y);
    }
}

}  // namespace stereopsis::wta
