#include <limits>
#include <optional>

#include "stages/wta/wta.hpp"

namespace stereopsis::wta {
namespace {

// Integer costs are compared as integers.
template <class T>
using Number = std::conditional_t<std::is_same_v<T, float>, float, int>;
// The lowest cost that marks an absent candidate. For floats, NaN also marks absent candidates.
template <class T>
constexpr Number<T> absent = std::is_same_v<T, float> ? std::numeric_limits<Number<T>>::infinity() : no_cost;
template <class T>
bool is_cost(T c) {
  return c < absent<T>;
}

bool usable(ImageView<const std::uint8_t> mask, int x, int y) { return mask.empty() || mask.clamped(x, y) != 0; }

// If the range is reversed, the last candidate wins ties.
template <class T>
void select_left(const Parameters& p, const Input& in, VolumeView<const T> costs, int x, int y, const Output& out,
                 Reference reference) {
  const auto range = candidates(p, x, costs.width, in.min_disparity, costs.disparities);
  const auto cost = [&](int k) -> std::optional<Number<T>> {
    if (k < range.first || k > range.last || !usable(in.mask_right, x - in.min_disparity - k, y)) return std::nullopt;
    if (!is_cost(costs(x, y, k))) return std::nullopt;
    return costs(x, y, k);
  };
  const auto set = [&](float disparity, std::uint8_t validity, float confidence) {
    out.disparity(x, y) = disparity;
    out.validity(x, y) = validity;
    if (!out.confidence.empty()) out.confidence(x, y) = confidence;
  };
  if (!usable(in.mask_left, x, y)) return set(invalid_disparity, validity::masked, 0);

  const bool backwards = reference == Reference::right;
  int best = -1;
  for (int k = 0; k < costs.disparities; ++k)
    if (cost(k) && (best < 0 || *cost(k) < *cost(best) || (backwards && *cost(k) == *cost(best)))) best = k;
  if (best < 0) return set(invalid_disparity, validity::no_candidate, 0);

  std::optional<Number<T>> second;
  for (int k = 0; k < costs.disparities; ++k)
    if (cost(k) && std::abs(k - best) > 1 && (!second || *cost(k) < *second)) second = *cost(k);
  if (p.uniqueness > 0 && second &&
      *second * static_cast<Number<T>>(100 - p.uniqueness) < *cost(best) * static_cast<Number<T>>(100))
    return set(invalid_disparity, validity::ambiguous, 0);

  const bool between = cost(best - 1) && cost(best + 1);
  const float offset = between ? subpixel_offset(p.subpixel, *cost(best - 1), *cost(best), *cost(best + 1)) : 0.0f;
  const float disparity = static_cast<float>(in.min_disparity + best) + offset;
  set(backwards ? 0 - disparity : disparity, 0, second ? confidence_of(*cost(best), *second) : 0.0f);
}

template <class T>
float select_right(const Input& in, VolumeView<const T> costs, int x_right, int y) {
  if (!usable(in.mask_right, x_right, y)) return invalid_disparity;
  int best = -1;
  Number<T> lowest = 0;
  for (int k = 0; k < costs.disparities; ++k) {
    const int x = x_right + in.min_disparity + k;
    if (x < 0 || x >= costs.width || !usable(in.mask_left, x, y) || !is_cost(costs(x, y, k))) continue;
    if (best >= 0 && costs(x, y, k) >= lowest) continue;
    best = k;
    lowest = costs(x, y, k);
  }
  return best < 0 ? invalid_disparity : static_cast<float>(in.min_disparity + best);
}

template <class T>
void select(const Parameters& p, const Input& in, VolumeView<const T> costs, const Output& out, Reference reference) {
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x) {
      select_left(p, in, costs, x, y, out, reference);
      if (!out.right.empty()) out.right(x, y) = select_right(in, costs, x, y);
    }
}

}  // namespace

void oracle(const Parameters& p, const Input& in, VolumeView<const std::uint8_t> costs, const Output& out,
            Reference reference) {
  select(p, in, costs, out, reference);
}

void oracle(const Parameters& p, const Input& in, VolumeView<const std::uint16_t> costs, const Output& out,
            Reference reference) {
  select(p, in, costs, out, reference);
}

void oracle(const Parameters& p, const Input& in, VolumeView<const float> costs, const Output& out,
            Reference reference) {
  select(p, in, costs, out, reference);
}

}  // namespace stereopsis::wta
