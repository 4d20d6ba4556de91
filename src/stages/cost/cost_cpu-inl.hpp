// The costs of one left pixel against all its candidates, for the engines that evaluate costs on the fly.
// Included once per SIMD target, hence the unusual guard.
#if defined(STEREOPSIS_COST_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_COST_CPU_INL
#undef STEREOPSIS_COST_CPU_INL
#else
#define STEREOPSIS_COST_CPU_INL
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "stages/cost/cost.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::cost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A row of the right view laid out so that the candidates of a pixel follow one another in memory: those of
// column x, from the lowest disparity on, start at index width − 1 − x. `out` takes width + padded − 1 words.
template <class Word>
void reverse_row(const Word* row, int width, int min_disparity, int padded, Word* out) {
  for (int i = 0; i < width + padded - 1; ++i) {
    const long long x = static_cast<long long>(width) - 1 - min_disparity - i;
    out[i] = row[std::clamp<long long>(x, 0, width - 1)];
  }
}

// Rank costs of Lanes(d) candidates.
template <class D>
HWY_INLINE hn::VFromD<D> block_costs(D d, std::uint8_t left, const std::uint8_t* candidates) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    const auto a = hn::Set(d, left);
    const auto b = hn::LoadU(d, candidates);
    return hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
  } else {
    const hn::Rebind<std::uint8_t, D> d8;
    return hn::PromoteTo(d, block_costs(d8, left, candidates));
  }
}

// Census costs: popcounts in wide lanes, halved in width by keeping the even lanes until they fit.
template <class D, class Word>
  requires(sizeof(Word) >= 4)
HWY_INLINE hn::VFromD<D> block_costs(D, Word left, const Word* candidates) {
  using Lane = hn::TFromD<D>;
  const auto narrowed = [&]<class W>(auto self, W, const Word* from) {
    const hn::Repartition<W, D> dw;
    if constexpr (sizeof(W) == sizeof(Word)) {
      return hn::PopulationCount(hn::Xor(hn::LoadU(dw, from), hn::Set(dw, left)));
    } else {
      using Wide = hwy::MakeWide<W>;
      const hn::Repartition<Wide, D> wide;
      const auto low = self(self, Wide{}, from);
      const auto high = self(self, Wide{}, from + hn::Lanes(wide));
      return hn::ConcatEven(dw, hn::BitCast(dw, high), hn::BitCast(dw, low));
    }
  };
  return narrowed(narrowed, Lane{}, candidates);
}

}  // namespace stereopsis::cost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
