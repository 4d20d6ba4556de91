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

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The four minima of four vectors, in the lowest four lanes.
template <class D, class V>
HWY_INLINE void store_minima(D d, const V (&v)[4], hn::TFromD<D>* minima) {
  using Lane = hn::TFromD<D>;
  const auto pairs = [&](V a, V b) { return hn::Min(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)); };
  const hn::Repartition<hwy::MakeWide<Lane>, D> wide;
  const auto a = hn::BitCast(wide, pairs(v[0], v[1]));
  const auto b = hn::BitCast(wide, pairs(v[2], v[3]));
  // Every four lanes now hold one candidate for each minimum.
  const auto quads = hn::Min(hn::BitCast(d, hn::InterleaveLower(wide, a, b)), hn::BitCast(d, hn::InterleaveUpper(wide, a, b)));
  const auto fold = [&](auto self, auto tag, auto q) {
    if constexpr (hn::MaxLanes(decltype(tag)()) * sizeof(Lane) > 16) {
      const hn::Half<decltype(tag)> half;
      return self(self, half, hn::Min(hn::LowerHalf(half, q), hn::UpperHalf(half, q)));
    } else {
      const hn::Repartition<std::uint64_t, decltype(tag)> d64;
      q = hn::Min(q, hn::BitCast(tag, hn::Shuffle01(hn::BitCast(d64, q))));
      if constexpr (sizeof(Lane) == 1) {
        const hn::Repartition<std::uint32_t, decltype(tag)> d32;
        q = hn::Min(q, hn::BitCast(tag, hn::Shuffle2301(hn::BitCast(d32, q))));
      }
      return q;
    }
  };
  const auto folded = fold(fold, d, quads);
  const hn::DFromV<decltype(folded)> d128;
  HWY_ALIGN Lane lanes[16 / sizeof(Lane)];
  hn::Store(folded, d128, lanes);
  for (int i = 0; i < 4; ++i) minima[i] = lanes[i];
}

// Extends kPaths paths by a pixel. `paths` holds, for each, `costs` (L_r at its last pixel, updated in place, with a
// guard of the largest value before the first and behind the last, so that d ± 1 needs no special case) and their
// `minimum()`. The pixel's matching costs from index k on come from `block_costs(k)`; each block of the sums over the paths, in 16 bits,
// goes to `take_sums(k, sums)`.
template <int kPaths, class D, class Path, class BlockCosts, class TakeSums>
HWY_INLINE void extend_paths(D d, const Path (&paths)[kPaths], const hn::TFromD<D> (&p2)[kPaths], hn::TFromD<D> p1,
                             int padded, BlockCosts&& block_costs, TakeSums&& take_sums) {
  using Lane = hn::TFromD<D>;
  using V = hn::VFromD<D>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V penalty = hn::Set(d, p1);
  const V largest = hn::Set(d, hwy::LimitsMax<Lane>());
  V minimum[4] = {largest, largest, largest, largest};
  V lowest[kPaths], ceiling[kPaths], below[kPaths];
  for (int r = 0; r < kPaths; ++r) {
    lowest[r] = hn::Set(d, paths[r].minimum());
    ceiling[r] = hn::Set(d, static_cast<Lane>(paths[r].minimum() + p2[r]));
    below[r] = hn::LoadU(d, paths[r].costs - 1);
  }
  for (int k = 0; k < padded; k += lanes) {
    const V cost = block_costs(k);
    V extended[kPaths];
    for (int r = 0; r < kPaths; ++r) {
      Lane* path = paths[r].costs + k;
      const V same = hn::Load(d, path);
      const V above = hn::LoadU(d, path + 1);
      const V step = hn::SaturatedAdd(hn::Min(below[r], above), penalty);
      const V best = hn::Min(hn::Min(same, step), ceiling[r]);
      extended[r] = hn::SaturatedAdd(hn::Sub(best, lowest[r]), cost);
      minimum[r] = hn::Min(minimum[r], extended[r]);
      if (k + lanes < padded) below[r] = hn::LoadU(d, path + lanes - 1);  // before the store hides what the next block needs
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
  for (int r = 0; r < kPaths; ++r) paths[r].minimum() = minima[r];
}

}  // namespace stereopsis::sgm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
