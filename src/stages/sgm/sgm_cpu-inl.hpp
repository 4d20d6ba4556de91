// Equation 4 for all paths that meet in one pixel, with vectors of disparities, for the CPU engines of semi-global
// matching. The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_SGM_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SGM_CPU_INL
#undef STEREOPSIS_SGM_CPU_INL
#else
#define STEREOPSIS_SGM_CPU_INL
#endif

#include <cstdint>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// Replaces each vector by its minimum, repeated in all lanes.
template <int kPaths, class D, class V>
HWY_INLINE void spread_minima(D d, V (&v)[kPaths]) {
  using Lane = hn::TFromD<D>;
  const V first = merge_minima<Lane>(d, v[0], v[1]);
  const V other = kPaths == 4 ? merge_minima<Lane>(d, v[kPaths - 2], v[kPaths - 1]) : first;
  const V all = minima_in_all_blocks(d, merge_minima<hwy::MakeWide<Lane>>(d, first, other));
  // At this point, every group of four lanes holds one candidate for each minimum.
  const hn::Repartition<std::uint64_t, D> d64;
  V lowest = hn::Min(all, hn::BitCast(d, hn::Shuffle01(hn::BitCast(d64, all))));
  if constexpr (sizeof(Lane) == 1) {
    const hn::Repartition<std::uint32_t, D> d32;
    lowest = hn::Min(lowest, hn::BitCast(d, hn::Shuffle2301(hn::BitCast(d32, lowest))));
  }
  for (int r = 0; r < kPaths; ++r) {
    const int bytes = sizeof(Lane) == 1 ? r : (2 * r + 1) << 8 | 2 * r;
    v[r] = hn::TableLookupBytes(lowest, hn::Set(d, static_cast<Lane>(bytes)));
  }
}

// Returns L_r − C for a block of disparities, from the path costs at the previous pixel, which are relative to their
// minimum. The result is at most P2.
template <class V>
HWY_INLINE V arrive(V below, V same, V above, V p1, V p2) {
  const V step = hn::SaturatedAdd(hn::Min(below, above), p1);
  return hn::Min(hn::Min(same, step), p2);
}

// A vector of costs results in this many vectors of 16-bit sums over paths.
template <class D>
inline constexpr int sums_per_block = 2 / sizeof(hn::TFromD<D>);
template <class D>
using Sums = hn::VFromD<hn::Repartition<std::uint16_t, D>>[sums_per_block<D>];

// Sums the costs over the paths. The sums of 8-bit costs alternate between half blocks of 128 bits. The function
// in_order() restores the order.
template <int kPaths, class D, class V>
HWY_INLINE void sum_paths(D d, const V (&costs)[kPaths], Sums<D>& sums) {
  if constexpr (sizeof(hn::TFromD<D>) == 2) {
    sums[0] = costs[0];
    for (int r = 1; r < kPaths; ++r) sums[0] = hn::Add(sums[0], costs[r]);
  } else {
    for (int r = 0; r < kPaths; r += 2) {
      const auto low = sums_of_pairs(d, hn::InterleaveLower(d, costs[r], costs[r + 1]));
      const auto high = sums_of_pairs(d, hn::InterleaveUpper(d, costs[r], costs[r + 1]));
      sums[0] = r == 0 ? low : hn::Add(sums[0], low);
      sums[1] = r == 0 ? high : hn::Add(sums[1], high);
    }
  }
}

// Orders the sums by disparity.
template <class D>
HWY_INLINE void in_order([[maybe_unused]] D d, Sums<D>& sums) {
  if constexpr (sums_per_block<D> == 2 && hn::MaxLanes(D()) > 16) {
    const hn::Repartition<std::uint16_t, D> d16;
    const auto low = hn::ConcatLowerLower(d16, sums[1], sums[0]), high = hn::ConcatUpperUpper(d16, sums[1], sums[0]);
    sums[0] = swap_middle_blocks(d16, low);
    sums[1] = swap_middle_blocks(d16, high);
  }
}

// The values that extend_paths() gives to `take`: L_r, or L_r − C, which is at most P2.
enum class Part { whole, without_cost };

// The matching costs of a pixel. The function costs(k) returns those from index k on, and padding(k) the largest value
// in the lanes after the last disparity, 0 elsewhere.
template <class CostsAt, class PaddingAt>
struct PixelCosts {
  CostsAt costs;
  PaddingAt padding;
};
template <class CostsAt, class PaddingAt>  // Clang before 17 deduces no arguments of an aggregate
PixelCosts(CostsAt, PaddingAt)->PixelCosts<CostsAt, PaddingAt>;

// Returns the lowest matching cost of a pixel, repeated in all lanes.
template <class D, class Pixel, class V = hn::VFromD<D>>
HWY_NOINLINE V lowest_cost(D d, const Pixel& pixel, int padded) {
  V lowest[2] = {hn::Set(d, hwy::LimitsMax<hn::TFromD<D>>()), hn::Zero(d)};
  for (int k = 0; k < padded; k += static_cast<int>(hn::Lanes(d)))
    lowest[0] = hn::Min(lowest[0], hn::Or(pixel.costs(k), pixel.padding(k)));
  lowest[1] = lowest[0];
  spread_minima(d, lowest);
  return lowest[0];
}

// Extends kPaths paths by one pixel. `paths` holds the path costs at the previous pixel, minus their minimum (L_r − min
// L_r), which is all that equation 4 needs. The function replaces them by the path costs at this pixel. The largest
// value lies before the first disparity and after the last one, so that d ± 1 needs no special case. `p1` and `p2` are
// penalties, repeated in a word. The p2 of the next path is p2_stride words later. The function take(k, cost, parts)
// receives the matching costs and kPart of the path costs of each block. If kBlocks is not 0, it is the number of
// vectors that hold all disparities, which then stay in registers until their minimum is known.
//
// If the largest matching cost plus P2 exceeds the lanes, path costs saturate. A saturated path cost is still correct,
// because values of P2 and more are equivalent, unless the minimum is above `most_lowest`, the largest lane minus P2.
// In this rare case, the path costs are computed again from matching costs minus their minimum. One of these is 0, so
// that the minimum of a path is at most P2, and 2 P2 must fit in a lane.
template <int kBlocks, Part kPart, bool kSaturates, int kPaths, class D, class Pixel, class Take,
          class Lane = hn::TFromD<D>>
HWY_INLINE void extend_paths(D d, Lane* const (&paths)[kPaths], const std::uint32_t& p1, const std::uint32_t* p2,
                             int p2_stride, int padded, [[maybe_unused]] int most_lowest, const Pixel& pixel,
                             Take&& take) {
  using V = hn::VFromD<D>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V small = load_repeated(d, &p1);
  V large[kPaths], lowest[kPaths];
  for (int r = 0; r < kPaths; ++r) large[r] = load_repeated(d, p2 + r * p2_stride);
  if constexpr (kBlocks > 0) {
    V extended[kBlocks][kPaths];
    const auto extend_block = [&]<int b>(auto&& cost_of, auto&& taken) HWY_ATTR {
      const int k = b * lanes;
      const V cost = cost_of(k);
      V arriving[kPaths];
      for (int r = 0; r < kPaths; ++r) {
        const Lane* path = paths[r] + k;
        arriving[r] = arrive(hn::LoadU(d, path - 1), hn::Load(d, path), hn::LoadU(d, path + 1), small, large[r]);
        extended[b][r] = hn::SaturatedAdd(arriving[r], cost);
        lowest[r] = b == 0 ? extended[b][r] : hn::Min(lowest[r], extended[b][r]);
      }
      if constexpr (kPart == Part::whole)
        taken(k, cost, extended[b]);
      else
        taken(k, cost, arriving);
    };
    // A loop that the compiler does not unroll would keep the vectors in memory.
    const auto extend_all = [&](auto&& cost_of, auto&& taken) HWY_ATTR {
      static_assert(kBlocks <= 2);
      extend_block.template operator()<0>(cost_of, taken);
      if constexpr (kBlocks == 2) extend_block.template operator()<1>(cost_of, taken);
      spread_minima(d, lowest);
    };
    extend_all([&](int k) HWY_ATTR { return hn::Or(pixel.costs(k), pixel.padding(k)); }, take);
    if constexpr (kSaturates) {
      V highest = lowest[0];
      for (int r = 1; r < kPaths; ++r) highest = hn::Max(highest, lowest[r]);
      if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(highest, hn::Set(d, static_cast<Lane>(most_lowest)))))) {
        const V base = lowest_cost(d, pixel, padded);
        extend_all([&](int k) HWY_ATTR { return hn::Or(hn::Sub(pixel.costs(k), base), pixel.padding(k)); },
                   [](int, V, const V(&)[kPaths]) HWY_ATTR {});
      }
    }
    for (int b = 0; b < kBlocks; ++b)
      for (int r = 0; r < kPaths; ++r) hn::Store(hn::Sub(extended[b][r], lowest[r]), d, paths[r] + b * lanes);
  } else {
    [[maybe_unused]] V base = hn::Zero(d);
    if constexpr (kSaturates)
      if (most_lowest < hwy::LimitsMax<Lane>()) base = lowest_cost(d, pixel, padded);
    V below[kPaths];
    for (int r = 0; r < kPaths; ++r) {
      below[r] = hn::LoadU(d, paths[r] - 1);
      lowest[r] = hn::Set(d, hwy::LimitsMax<Lane>());
    }
    for (int k = 0; k < padded; k += lanes) {
      const V cost = pixel.costs(k);
      V padded_cost = cost;
      if constexpr (kSaturates) padded_cost = hn::Sub(cost, base);
      padded_cost = hn::Or(padded_cost, pixel.padding(k));
      V parts[kPaths];
      for (int r = 0; r < kPaths; ++r) {
        Lane* path = paths[r] + k;
        parts[r] = arrive(below[r], hn::Load(d, path), hn::LoadU(d, path + 1), small, large[r]);
        const V extended = hn::SaturatedAdd(parts[r], padded_cost);
        lowest[r] = hn::Min(lowest[r], extended);
        if (k + lanes < padded)
          // Loaded before the store overwrites values that the next block needs.
          below[r] = hn::LoadU(d, path + lanes - 1);
        hn::Store(extended, d, path);
        if constexpr (kPart == Part::whole) parts[r] = extended;
      }
      take(k, cost, parts);
    }
    spread_minima(d, lowest);
    for (int k = 0; k < padded; k += lanes)
      for (int r = 0; r < kPaths; ++r) hn::Store(hn::Sub(hn::Load(d, paths[r] + k), lowest[r]), d, paths[r] + k);
  }
}

}  // namespace stereopsis::sgm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
