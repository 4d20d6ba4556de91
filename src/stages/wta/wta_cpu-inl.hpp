// Selects the disparities of one pixel or of a batch of pixels from their costs, and updates the selection of the right
// view. The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_WTA_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_WTA_CPU_INL
#undef STEREOPSIS_WTA_CPU_INL
#else
#define STEREOPSIS_WTA_CPU_INL
#endif

#include <algorithm>
#include <cstdint>

#include "device/cpu/lanes-inl.hpp"
#include "stages/wta/wta.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::wta::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

using wta::no_cost;

// Gives no_cost to the candidates that `mask` excludes in the right view. costs[k] is the cost of the right pixel
// (first − k, y); pixels beside the image have the mask of the nearest pixel.
inline void remove_masked(const ImageView<const std::uint8_t>& mask, int y, int first, int disparities,
                          std::uint16_t* costs) {
  if (mask.empty()) return;
  const hn::CappedTag<std::uint16_t, 32> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int k = 0;
  const auto one_by_one = [&](int end) {
    for (; k < end; ++k)
      if (mask.clamped(first - k, y) == 0) costs[k] = no_cost;
  };
  one_by_one(std::clamp(first - mask.width + 1, 0, disparities));
  for (; k + lanes <= std::min(disparities, first + 1); k += lanes) {
    const auto usable = hn::Reverse(d, hn::PromoteTo(d, hn::LoadU(d8, mask.row(y) + first - k - lanes + 1)));
    const auto excluded = hn::Eq(usable, hn::Zero(d));
    hn::StoreU(hn::IfThenElse(excluded, hn::Set(d, no_cost), hn::LoadU(d, costs + k)), d, costs + k);
  }
  one_by_one(disparities);
}

// Gives no_cost to the disparities of the left pixel (x, y) that are no candidates.
inline void leave_candidates(const Parameters& p, const Input& in, int x, int y, int width, int disparities,
                             std::uint16_t* costs) {
  const auto range = candidates(p, x, width, in.min_disparity, disparities);
  std::fill(costs, costs + std::clamp(range.first, 0, disparities), no_cost);
  std::fill(costs + std::clamp(range.last + 1, 0, disparities), costs + disparities, no_cost);
  remove_masked(in.mask_right, y, x - in.min_disparity, disparities, costs);
}

// Returns the lowest cost, or no_cost if there is no candidate.
inline int lowest_cost(const std::uint16_t* costs, int padded) {
  const hn::CappedTag<std::uint16_t, 32> d;
  auto lowest = hn::Load(d, costs);
  for (int k = static_cast<int>(hn::Lanes(d)); k < padded; k += static_cast<int>(hn::Lanes(d)))
    lowest = hn::Min(lowest, hn::Load(d, costs + k));
  return hn::GetLane(hn::MinOfLanes(d, lowest));
}

// Returns the first index whose cost equals `cost`, which must occur.
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

// `costs` has no_cost for absent candidates, up to `padded` entries. The function overwrites `costs`.
inline Selected select(const Parameters& p, std::uint16_t* costs, int padded, int disparities, int min_disparity,
                       bool want_confidence) {
  const int lowest = lowest_cost(costs, padded);
  if (lowest == no_cost) return {.validity = validity::no_candidate};
  const int best = first_index_of(costs, lowest);
  const int before = best > 0 ? costs[best - 1] : no_cost;
  const int behind = best + 1 < disparities ? costs[best + 1] : no_cost;

  Selected selected;
  if (p.uniqueness > 0 || want_confidence) {
    std::fill(costs + std::max(0, best - 1), costs + std::min(disparities, best + 2), no_cost);
    const int second = lowest_cost(costs, padded);
    if (second != no_cost) {
      if (p.uniqueness > 0 && second * (100 - p.uniqueness) < lowest * 100) return {.validity = validity::ambiguous};
      selected.confidence = confidence_of(lowest, second);
    }
  }
  const bool between = before != no_cost && behind != no_cost;
  selected.disparity =
      static_cast<float>(min_disparity + best) + (between ? subpixel_offset(p.subpixel, before, lowest, behind) : 0.0f);
  return selected;
}

inline constexpr int batch = 8;  // number of pixels whose winners are found together

// Stores the minima of a batch of vectors.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void store_minima(D d, const V (&v)[batch], std::uint16_t* minima) {
  V quarters[2];
  for (int i = 0; i < 2; ++i) {
    const V* of = v + 4 * i;
    quarters[i] = merge_minima<std::uint32_t>(d, merge_minima<std::uint16_t>(d, of[0], of[1]),
                                              merge_minima<std::uint16_t>(d, of[2], of[3]));
  }
  const auto lowest = minima_of_blocks(d, merge_minima<std::uint64_t>(d, quarters[0], quarters[1]));
  hn::Store(lowest, hn::DFromV<decltype(lowest)>(), minima);
}

// The costs of a batch of pixels, with one row per pixel. There is an entry of no_cost before the first and after the
// last cost. Costs of absent candidates are no_cost, up to `padded` entries.
struct Costs {
  std::uint16_t* operator[](int pixel) const { return data + pixel * stride; }

  std::uint16_t* data;
  std::ptrdiff_t stride;
  int padded;
};

HWY_INLINE void find_lowest(const Costs& costs, std::uint16_t* lowest) {
  const hn::CappedTag<std::uint16_t, 32> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  hn::VFromD<decltype(d)> lowest_lanes[batch];
  for (int pixel = 0; pixel < batch; ++pixel) {
    auto v = hn::Load(d, costs[pixel]);
    for (int k = lanes; k < costs.padded; k += lanes) v = hn::Min(v, hn::Load(d, costs[pixel] + k));
    lowest_lanes[pixel] = v;
  }
  store_minima(d, lowest_lanes, lowest);
}

// Finds the first index of the lowest cost.
HWY_INLINE void find_index(const Costs& costs, const std::uint16_t* lowest, std::uint16_t* index) {
  const hn::CappedTag<std::uint16_t, 32> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto nowhere = hn::Set(d, no_cost);
  const auto last_block = counted_from(d, static_cast<std::uint16_t>(costs.padded - lanes));
  const auto step = hn::Set(d, static_cast<std::uint16_t>(lanes));
  hn::VFromD<decltype(d)> first[batch];
  for (int pixel = 0; pixel < batch; ++pixel) {
    const auto wanted = hn::Set(d, lowest[pixel]);
    auto found = nowhere;
    auto block = last_block;
    for (int k = costs.padded - lanes; k >= 0; k -= lanes) {
      found = hn::IfThenElse(hn::Eq(hn::Load(d, costs[pixel] + k), wanted), block, found);
      block = hn::Sub(block, step);
    }
    first[pixel] = found;
  }
  store_minima(d, first, index);
}

inline constexpr int run = 32;  // number of pixels of a row that are selected together

// The costs that the selection needs for a run of pixels: the lowest cost, its first index, the costs before and after
// that index, and the lowest cost that is farther away.
struct Winners {
  HWY_ALIGN std::uint16_t lowest[run], index[run], before[run], behind[run], second[run];
};

// Finds the winners of a batch of pixels, which have the same position in the runs of different rows. The function
// overwrites the costs.
HWY_INLINE void find_winners(const Costs& costs, bool want_second, int place, Winners (&rows)[batch]) {
  HWY_ALIGN std::uint16_t lowest[batch], index[batch], second[batch];
  find_lowest(costs, lowest);
  find_index(costs, lowest, index);
  for (int i = 0; i < batch; ++i) {
    const std::uint16_t* found = costs[i] + index[i];
    rows[i].lowest[place] = lowest[i];
    rows[i].index[place] = index[i];
    rows[i].before[place] = found[-1];
    rows[i].behind[place] = found[1];
  }
  if (!want_second) return;
  for (int i = 0; i < batch; ++i) std::fill_n(costs[i] + index[i] - 1, 3, no_cost);
  find_lowest(costs, second);
  for (int i = 0; i < batch; ++i) rows[i].second[place] = second[i];
}

// The results of a run of pixels.
struct SelectedRun {
  HWY_ALIGN float disparity[run];
  HWY_ALIGN float confidence[run];
  HWY_ALIGN std::uint8_t validity[run];
};

// Selects each pixel of the run, with the same result as the other select().
inline void select(const Parameters& p, const Winners& winners, int min_disparity, bool want_confidence,
                   SelectedRun& selected) {
  const hn::CappedTag<float, run> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const auto none = hn::Set(di, no_cost);
  for (int i = 0; i < run; i += static_cast<int>(hn::Lanes(d))) {
    const auto load = [&](const std::uint16_t* values)
                          HWY_ATTR { return hn::PromoteTo(di, hn::Load(d16, values + i)); };
    const auto a = load(winners.before), b = load(winners.lowest), c = load(winners.behind);
    auto valid = hn::Lt(b, none);
    auto validity = hn::IfThenElse(valid, hn::Zero(di), hn::Set(di, validity::no_candidate));
    auto confidence = hn::Zero(d);
    if (p.uniqueness > 0 || want_confidence) {
      const auto m = load(winners.second);
      const auto other = hn::Lt(m, none);
      const auto peak = hn::Sub(hn::Set(d, 1.0f), hn::Div(hn::ConvertTo(d, b), hn::ConvertTo(d, m)));
      confidence = hn::IfThenElseZero(hn::RebindMask(d, hn::And(other, hn::Gt(m, hn::Zero(di)))), peak);
      if (p.uniqueness > 0) {
        const auto close = hn::Lt(hn::Mul(m, hn::Set(di, 100 - p.uniqueness)), hn::Mul(b, hn::Set(di, 100)));
        const auto ambiguous = hn::And(valid, hn::And(other, close));
        validity = hn::IfThenElse(ambiguous, hn::Set(di, validity::ambiguous), validity);
        valid = hn::AndNot(ambiguous, valid);
      }
    }
    auto disparity = hn::ConvertTo(d, hn::Add(load(winners.index), hn::Set(di, min_disparity)));
    if (p.subpixel != Subpixel::none) {
      const auto difference =
          p.subpixel == Subpixel::parabola ? hn::Add(hn::Sub(a, b), hn::Sub(c, b)) : hn::Sub(hn::Max(a, c), b);
      const auto offset = hn::Div(hn::ConvertTo(d, hn::Sub(a, c)), hn::ConvertTo(d, hn::Add(difference, difference)));
      const auto between = hn::And(hn::Lt(hn::Max(a, c), none), hn::Gt(difference, hn::Zero(di)));
      disparity = hn::Add(disparity, hn::IfThenElseZero(hn::RebindMask(d, between), offset));
    }
    const auto is_valid = hn::RebindMask(d, valid);
    hn::Store(hn::IfThenElse(is_valid, disparity, hn::Set(d, invalid_disparity)), d, selected.disparity + i);
    hn::Store(hn::IfThenElseZero(is_valid, confidence), d, selected.confidence + i);
    hn::Store(hn::DemoteTo(d8, validity), d8, selected.validity + i);
  }
}

// The winners of the right view in one row, which are updated while left pixels are processed in order. Entry i belongs
// to the right pixel x = width − 1 − min_disparity − i, so that the candidates of a left pixel are contiguous.
struct RightRow {
  std::uint16_t* cost;
  std::uint16_t* index;
};

inline void clear(const RightRow& row, int entries) { std::fill_n(row.cost, entries, no_cost); }

// Updates the winners with a block of costs of a left pixel. `index` has the indices of the costs. In a tie, the lowest
// disparity wins. If left pixels are processed from right to left, it comes later, and otherwise it comes first.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void update(D d, V cost, V index, bool later_wins, std::uint16_t* row_cost, std::uint16_t* row_index) {
  const V before = hn::LoadU(d, row_cost), index_before = hn::LoadU(d, row_index);
  const V lowest = hn::Min(cost, before);
  const V winner = later_wins ? hn::IfThenElse(hn::Eq(lowest, cost), index, index_before)
                              : hn::IfThenElse(hn::Eq(lowest, before), index_before, index);
  hn::StoreU(lowest, d, row_cost);
  hn::StoreU(winner, d, row_index);
}

// Updates the winners with all costs of a left pixel. Left pixels must be processed from right to left, and `from` is
// width − 1 − x.
HWY_INLINE void update(const RightRow& row, int from, const std::uint16_t* costs, int padded) {
  const hn::CappedTag<std::uint16_t, 32> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto index = hn::Iota(d, 0);
  const auto step = hn::Set(d, static_cast<std::uint16_t>(lanes));
  for (int k = 0; k < padded; k += lanes) {
    update(d, hn::Load(d, costs + k), index, true, row.cost + from + k, row.index + from + k);
    index = hn::Add(index, step);
  }
}

inline void finish(const RightRow& row, int width, int disparities, int min_disparity, const std::uint8_t* mask,
                   float* right) {
  for (int x = 0; x < width; ++x) {
    const long long i = static_cast<long long>(width) - 1 - min_disparity - x;
    const bool any =
        i >= 0 && i < width + disparities - 1 && row.cost[i] != no_cost && (mask == nullptr || mask[x] != 0);
    right[x] = any ? static_cast<float>(min_disparity + row.index[i]) : invalid_disparity;
  }
}

}  // namespace stereopsis::wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
