// Adds the term of a pixel's seed to its costs, for CPU engines. The file is included once for each SIMD target, hence
// the unusual include guard.
#if defined(STEREOPSIS_SEEDS_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SEEDS_CPU_INL
#undef STEREOPSIS_SEEDS_CPU_INL
#else
#define STEREOPSIS_SEEDS_CPU_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include "device/cpu/highway-inl.hpp"
#include "stages/seeds/seeds.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::seeds::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// |16 (j − 8) − f| for the fractions f of a seed and 16 candidates, limited to the width, times 4.
constexpr auto distances = [] {
  std::array<std::array<std::uint16_t, 16>, 16> of{};
  for (int f = 0; f < 16; ++f)
    for (int j = 0; j < 16; ++j) {
      const int from_seed = 16 * (j - 8) - f, distance = from_seed < 0 ? -from_seed : from_seed;
      of[f][j] = static_cast<std::uint16_t>(4 * std::min(distance, width));
    }
  return of;
}();

// The terms of one pixel, for 16 candidates around the seed. Other candidates have the term of the first or of the last
// of these.
class Term {
 public:
  HWY_INLINE Term(const Parameters& p, std::uint32_t prior) : first_(static_cast<int>(prior >> 12) - 8) {
    const hn::FixedTag<std::uint16_t, 8> d16;
    const hn::RebindToSigned<decltype(d16)> to_signed;  // the terms are below 256
    const hn::FixedTag<std::uint8_t, 8> half;
    const auto product = hn::Set(d16, static_cast<std::uint16_t>(p.weight * static_cast<int>(prior & 255)));
    const std::uint16_t* const of = distances[prior >> 8 & 15].data();
    for (int j = 0; j < 16; j += 8)
      hn::Store(hn::DemoteTo(half, hn::BitCast(to_signed, hn::MulHigh(hn::LoadU(d16, of + j), product))), half,
                terms_ + j);
  }

  bool is_zero() const { return terms_[0] == 0; }

  // Adds the terms to the costs of the candidates from index k on.
  template <class D>
  HWY_INLINE hn::VFromD<D> add(D d, hn::VFromD<D> costs, int k) const {
    return hn::Max(costs, hn::Min(hn::SaturatedAdd(costs, block(d, k)), hn::Set(d, most_sum)));
  }

  // Adds the terms to the costs of `count` candidates.
  HWY_INLINE void add(std::uint8_t* costs, int count) const {
    const hn::CappedTag<std::uint8_t, 64> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    int k = 0;
    for (; k + lanes <= count; k += lanes) hn::StoreU(add(d, hn::LoadU(d, costs + k), k), d, costs + k);
    for (; k < count; ++k) {
      const int cost = costs[k], term = terms_[std::clamp(k - first_, 0, 15)];
      costs[k] = static_cast<std::uint8_t>(std::max(cost, std::min(cost + term, most_sum)));
    }
  }

 private:
  // Returns the terms of the candidates from index k on, of which a block has at most 64.
  template <class D8>
  HWY_INLINE hn::VFromD<D8> block(D8 d8, int k) const {
    const hn::RebindToSigned<D8> d;
    const auto offset = hn::Set(d, static_cast<std::int8_t>(std::clamp(k - first_, -64, 15)));
    const auto index =
        hn::BitCast(d8, hn::Min(hn::Max(hn::Add(hn::Iota(d, 0), offset), hn::Zero(d)), hn::Set(d, std::int8_t{15})));
    return hn::TableLookupBytes(hn::LoadDup128(d8, terms_), index);
  }

  alignas(16) std::uint8_t terms_[16] = {};
  int first_;  // the first of the 16 candidates
};

}  // namespace stereopsis::seeds::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
