#include <algorithm>
#include <cmath>

#include "stages/checked_map/checked_map.hpp"

namespace stereopsis::checked_map {
namespace {

std::uint8_t reason_of(const Parameters& p, float d, int x, int width) {
  if (!std::isfinite(d)) return validity::no_candidate;
  if (d < static_cast<float>(p.first) - 0.5f || d > static_cast<float>(p.last) + 0.5f) return validity::no_candidate;
  const float u = p.from_right ? static_cast<float>(x) + d : static_cast<float>(x) - d;
  if (u < -0.5f || u > static_cast<float>(width) - 0.5f) return validity::filled;
  return 0;
}

}  // namespace

void oracle(const Parameters& p, const Maps<ImageView>& m) {
  for (int y = 0; y < m.disparity.height; ++y)
    for (int x = 0; x < m.disparity.width; ++x) {
      float& d = m.disparity(x, y);
      const bool is_masked = !m.mask.empty() && m.mask(x, y) == 0;
      const std::uint8_t reason = is_masked ? validity::masked : reason_of(p, d, x, m.disparity.width);
      m.validity(x, y) = reason;
      if ((reason & validity::reasons) != 0) d = invalid_disparity;
      if (m.confidence.empty()) continue;
      float& c = m.confidence(x, y);
      c = reason != 0 || std::isnan(c) ? 0.0f : std::clamp(c, 0.0f, 1.0f);
    }
}

}  // namespace stereopsis::checked_map
