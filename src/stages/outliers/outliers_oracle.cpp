#include "stages/outliers/outliers.hpp"

namespace stereopsis::outliers {
namespace {

bool agrees(const Parameters& p, ImageView<const float> right, float d, int x, int y) {
  const float x_right = static_cast<float>(x) - std::floor(d + 0.5f);
  if (!(x_right >= 0 && x_right < static_cast<float>(right.width))) return false;
  return std::abs(d - right(static_cast<int>(x_right), y)) <= static_cast<float>(p.threshold);
}

bool is_met(ImageView<const float> right, int x, int y) {
  for (int x_right = 0; x_right < right.width; ++x_right)
    if (std::floor(right(x_right, y) + 0.5f) == static_cast<float>(x - x_right)) return true;
  return false;
}

}  // namespace

void oracle(const Parameters& p, ImageView<const float> right, const Map& map) {
  check_sizes(right, map.disparity);
  for (int y = 0; y < right.height; ++y)
    for (int x = 0; x < right.width; ++x) {
      float& d = map.disparity(x, y);
      if (!std::isnan(d) && agrees(p, right, d, x, y)) {
        map.kinds(x, y) = reliable;
        continue;
      }
      if (!std::isnan(d)) map.validity(x, y) |= validity::left_right;
      d = invalid_disparity;
      map.kinds(x, y) = is_met(right, x, y) ? mismatched : occluded;
    }
}

}  // namespace stereopsis::outliers
