// Selection of one pixel from its costs, and its share in the selection of the right view.
// Included once per SIMD target, hence the unusual guard.
#if defined(STEREOPSIS_WTA_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_WTA_CPU_INL
#undef STEREOPSIS_WTA_CPU_INL
#else
#define STEREOPSIS_WTA_CPU_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "stages/wta/wta.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using wta::no_cost;

// The lowest cost, or no_cost.
inline int lowest_cost(const std::uint16_t* costs, int padded) {
  const hn::CappedTag<std::uint16_t, 32> d;
  auto lowest = hn::Load(d, costs);
  for (int k = static_cast<int>(hn::Lanes(d)); k < padded; k += static_cast<int>(hn::Lanes(d)))
    lowest = hn::Min(lowest, hn::Load(d, costs + k));
  return hn::GetLane(hn::MinOfLanes(d, lowest));
}

// The first index that holds `cost`, which must occur.
inline int first_index_of(const std::uint16_t* costs, int cost) {
  const hn::CappedTag<std::uint16_t, 32> d;
  const auto wanted = hn::Set(d, static_cast<std::uint16_t>(cost));
  for (int k = 0;; k += static_cast<int>(hn::Lanes(d))) {
    const auto found = hn::FindFirstTrue(d, hn::Eq(hn::Load(d, costs + k), wanted));
    if (found >= 0) return k + static_cast<int>(found);
  }
}

struct Selected {
  float disparity = invalid_disparity;
  std::uint8_t validity = 0;
  float confidence = 0;
};

// `costs` holds no_cost for whatever is not a candidate, up to `padded`; it is overwritten.
inline Selected select(const Parameters& p, std::uint16_t* costs, int padded, int disparities, int min_disparity,
                       bool want_confidence) {
  const int lowest = lowest_cost(costs, padded);
  if (lowest == no_cost) return {.validity = validity::no_candidate};
  const int best = first_index_of(costs, lowest);
  const int before = best > 0 ? costs[best - 1] : no_cost;
  const int behind = best + 1 < disparities ? costs[best + 1] : no_cost;

  Selected selected{.confidence = 1};
  if (p.uniqueness > 0 || want_confidence) {
    std::fill(costs + std::max(0, best - 1), costs + std::min(disparities, best + 2), no_cost);
    const int second = lowest_cost(costs, padded);
    if (second != no_cost) {
      if (p.uniqueness > 0 && second * (100 - p.uniqueness) < lowest * 100) return {.validity = validity::ambiguous};
      selected.confidence = confidence_of(lowest, second);
    }
  }
  const bool between = before != no_cost && behind != no_cost;
  selected.disparity = static_cast<float>(min_disparity + best) +
                       (between ? subpixel_offset(p.subpixel, before, lowest, behind) : 0.0f);
  return selected;
}

// The right view's winners of one row, while the left pixels pass from right to left: entry i belongs to the right
// pixel x = width − 1 − min_disparity − i, so that the candidates of a left pixel lie side by side.
struct RightRow {
  std::uint16_t* cost;
  std::uint16_t* index;
};

inline void clear(const RightRow& row, int entries) { std::fill_n(row.cost, entries, no_cost); }

// Later calls bring lower disparities: they win ties. `from` is width − 1 − x of the left pixel.
inline void update(const RightRow& row, int from, const std::uint16_t* costs, int padded) {
  const hn::CappedTag<std::uint16_t, 32> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto index = hn::Iota(d, 0);
  const auto step = hn::Set(d, static_cast<std::uint16_t>(lanes));
  for (int k = 0; k < padded; k += lanes) {
    const auto cost = hn::Load(d, costs + k);
    const auto lowest = hn::Min(cost, hn::LoadU(d, row.cost + from + k));
    const auto wins = hn::Eq(lowest, cost);
    hn::StoreU(lowest, d, row.cost + from + k);
    hn::StoreU(hn::IfThenElse(wins, index, hn::LoadU(d, row.index + from + k)), d, row.index + from + k);
    index = hn::Add(index, step);
  }
}

inline void finish(const RightRow& row, int width, int disparities, int min_disparity, const std::uint8_t* mask, float* right) {
  for (int x = 0; x < width; ++x) {
    const long long i = static_cast<long long>(width) - 1 - min_disparity - x;
    const bool any = i >= 0 && i < width + disparities - 1 && row.cost[i] != no_cost && (mask == nullptr || mask[x] != 0);
    right[x] = any ? static_cast<float>(min_disparity + row.index[i]) : invalid_disparity;
  }
}

}  // namespace stereopsis::wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
