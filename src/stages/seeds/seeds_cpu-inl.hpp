// Adds the term of a pixel's seed to its costs, for CPU engines. The file is included once for each SIMD target, hence
// the unusual include guard.
#if defined(STEREOPSIS_SEEDS_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SEEDS_CPU_INL
#undef STEREOPSIS_SEEDS_CPU_INL
#else
#define STEREOPSIS_SEEDS_CPU_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "device/cpu/highway-inl.hpp"
#include "stages/seeds/seeds.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::seeds::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The term of one pixel. Away from the seed it is constant, and near it at most 9 candidates have less.
class Term {
 public:
  Term(const Parameters& p, std::uint32_t prior)
      : product_(p.weight * static_cast<int>(prior & 255)),
        value_(static_cast<int>(prior >> 8)),
        most_(product_ * width / 16384) {}

  bool is_zero() const { return most_ == 0; }

  // Adds the term to the costs of `count` candidates.
  HWY_INLINE void add(std::uint8_t* costs, int count) const {
    const hn::ScalableTag<std::uint8_t> d;
    const int lanes = static_cast<int>(hn::Lanes(d)), at = value_ / 16;
    const auto most = hn::Set(d, static_cast<std::uint8_t>(most_)), limit = hn::Set(d, most_sum);
    int k = 0;
    for (; k + lanes <= count; k += lanes) {
      const auto term = at + 5 < k || at - 5 >= k + lanes ? most : near(d, k);
      const auto cost = hn::LoadU(d, costs + k);
      hn::StoreU(hn::Max(cost, hn::Min(hn::SaturatedAdd(cost, term), limit)), d, costs + k);
    }
    for (; k < count; ++k) {
      const int term = product_ * std::min(std::abs(16 * k - value_), width) / 16384;
      costs[k] = static_cast<std::uint8_t>(std::max<int>(costs[k], std::min(costs[k] + term, most_sum)));
    }
  }

 private:
  // Returns the terms of the candidates from index k on. All distances are in 8 bits: those of more than 5 candidates
  // count as 5.
  template <class D>
  HWY_INLINE hn::VFromD<D> near(D d, int k) const {
    const hn::Repartition<std::uint16_t, D> d16;
    const auto in_sixteenths = [&](auto candidates) HWY_ATTR {
      return hn::BitCast(d, hn::ShiftLeft<4>(hn::BitCast(d16, hn::Min(candidates, hn::Set(d, 5)))));
    };
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto here = hn::Iota(d, 8), fraction = hn::Set(d, static_cast<std::uint8_t>(value_ % 16));
    const auto seed = hn::Set(d, static_cast<std::uint8_t>(std::clamp(value_ / 16 - k + 8, 0, lanes + 16)));
    const auto above = in_sixteenths(hn::SaturatedSub(here, seed)), below = in_sixteenths(hn::SaturatedSub(seed, here));
    const auto distance =
        hn::IfThenElse(hn::Eq(above, hn::Zero(d)), hn::Add(below, fraction), hn::Sub(above, fraction));
    const auto pairs = hn::BitCast(d16, hn::Min(distance, hn::Set(d, width)));
    const auto product = hn::Set(d16, static_cast<std::uint16_t>(product_));
    const auto even = hn::MulHigh(hn::ShiftLeft<2>(hn::And(pairs, hn::Set(d16, 0xFF))), product);
    const auto odd = hn::MulHigh(hn::ShiftLeft<2>(hn::ShiftRight<8>(pairs)), product);
    return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
  }

  const int product_, value_, most_;
};

}  // namespace stereopsis::seeds::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
