// Equation 4 for the paths that meet in one pixel, all disparities at a time.
// Included once per SIMD target, hence the unusual guard.
#if defined(STEREOPSIS_SGM_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SGM_CPU_INL
#undef STEREOPSIS_SGM_CPU_INL
#else
#define STEREOPSIS_SGM_CPU_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

// The minima of four vectors.
template <class D, class V>
HWY_INLINE void store_minima(D d, const V (&v)[4], hn::TFromD<D>* minima) {
  using Lane = hn::TFromD<D>;
  using Pair = hwy::MakeWide<Lane>;
  auto lowest =
      minima_of_blocks(d, merge_minima<Pair>(d, merge_minima<Lane>(d, v[0], v[1]), merge_minima<Lane>(d, v[2], v[3])));
  // Every four lanes now hold one candidate for each minimum.
  const hn::DFromV<decltype(lowest)> d128;
  const hn::Repartition<std::uint64_t, decltype(d128)> d64;
  lowest = hn::Min(lowest, hn::BitCast(d128, hn::Shuffle01(hn::BitCast(d64, lowest))));
  if constexpr (sizeof(Lane) == 1) {
    const hn::Repartition<std::uint32_t, decltype(d128)> d32;
    lowest = hn::Min(lowest, hn::BitCast(d128, hn::Shuffle2301(hn::BitCast(d32, lowest))));
  }
  HWY_ALIGN Lane lanes[16 / sizeof(Lane)];
  hn::Store(lowest, d128, lanes);
  for (int i = 0; i < 4; ++i) minima[i] = lanes[i];
}

// Extends kPaths paths by a pixel. `paths` are their costs L_r at the pixel before, updated in place; before the first and
// behind the last lies the largest value, so that d ± 1 needs no special case, and their minimum `minimum_offset` lanes
// from the first. The pixel's matching costs from index k on come from `block_costs(k)`; each block of the sums over
// the paths, in 16 bits, goes to `take_sums(k, sums)`.
template <int kPaths, class D, class BlockCosts, class TakeSums>
HWY_INLINE void extend_paths(D d, hn::TFromD<D>* const (&paths)[kPaths], int minimum_offset, const hn::TFromD<D>* p2,
                             hn::TFromD<D> p1, int padded, BlockCosts&& block_costs, TakeSums&& take_sums) {
  using Lane = hn::TFromD<D>;
  using V = hn::VFromD<D>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V penalty = hn::Set(d, p1);
  const V largest = hn::Set(d, hwy::LimitsMax<Lane>());
  V minimum[4] = {largest, largest, largest, largest};
  V lowest[kPaths], ceiling[kPaths], below[kPaths];
  for (int r = 0; r < kPaths; ++r) {
    const Lane before = paths[r][minimum_offset];
    lowest[r] = hn::Set(d, before);
    ceiling[r] = hn::Set(d, static_cast<Lane>(before + p2[r]));
    below[r] = hn::LoadU(d, paths[r] - 1);
  }
  for (int k = 0; k < padded; k += lanes) {
    const V cost = block_costs(k);
    V extended[kPaths];
    for (int r = 0; r < kPaths; ++r) {
      Lane* path = paths[r] + k;
      const V same = hn::Load(d, path);
      const V above = hn::LoadU(d, path + 1);
      const V step = hn::SaturatedAdd(hn::Min(below[r], above), penalty);
      const V best = hn::Min(hn::Min(same, step), ceiling[r]);
      extended[r] = hn::SaturatedAdd(hn::Sub(best, lowest[r]), cost);
      minimum[r] = hn::Min(minimum[r], extended[r]);
      if (k + lanes < padded)
        below[r] = hn::LoadU(d, path + lanes - 1);  // before the store hides what the next block needs
      hn::Store(extended[r], d, path);
    }
    if constexpr (sizeof(Lane) == 2) {
      V sum = extended[0];
      for (int r = 1; r < kPaths; ++r) sum = hn::Add(sum, extended[r]);
      take_sums(k, sum);
    } else {
      const hn::Repartition<std::uint16_t, D> d16;
      const hn::Half<D> half;
      auto low = hn::PromoteTo(d16, hn::LowerHalf(half, extended[0]));
      auto high = hn::PromoteTo(d16, hn::UpperHalf(half, extended[0]));
      for (int r = 1; r < kPaths; ++r) {
        low = hn::Add(low, hn::PromoteTo(d16, hn::LowerHalf(half, extended[r])));
        high = hn::Add(high, hn::PromoteTo(d16, hn::UpperHalf(half, extended[r])));
      }
      take_sums(k, low);
      take_sums(k + lanes / 2, high);
    }
  }
  Lane minima[4];
  store_minima(d, minimum, minima);
  for (int r = 0; r < kPaths; ++r) paths[r][minimum_offset] = minima[r];
}

}  // namespace stereopsis::sgm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
