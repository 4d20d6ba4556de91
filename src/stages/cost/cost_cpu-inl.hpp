// The costs of one left pixel against its candidates, for the engines that evaluate costs on the fly.
//
// A row of the right view is laid out so that the candidates of a pixel follow one another in memory: those of
// column x, from the lowest disparity on, start at index width − 1 − x.
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

// Calls put(i, word) for the width + padded − 1 candidates of a row. Outside the image the border repeats.
template <class Word, class Put>
void for_each_candidate(const Word* row, int width, int min_disparity, int padded, Put&& put) {
  for (int i = 0; i < width + padded - 1; ++i) {
    const long long x = static_cast<long long>(width) - 1 - min_disparity - i;
    put(i, row[std::clamp<long long>(x, 0, width - 1)]);
  }
}

template <class D>
HWY_INLINE hn::VFromD<D> absolute_difference(D, hn::VFromD<D> a, hn::VFromD<D> b) {
  return hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
}

// Popcounts in wide lanes, halved in width by keeping the even lanes until they fit the lanes of d.
template <class D, class Word>
HWY_INLINE hn::VFromD<D> hamming_distances(D, Word left, const Word* candidates) {
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
  return narrowed(narrowed, hn::TFromD<D>{}, candidates);
}

// The candidates of a row, and block(d, left, i): the costs of Lanes(d) of them from index i on, in 8 or 16 bits.
template <class Kind>
class Candidates;

template <>
class Candidates<Rank> {
 public:
  static constexpr std::size_t bytes_per_entry = 1;
  Candidates(const Rank&, std::byte* memory, int) : ranks_(reinterpret_cast<std::uint8_t*>(memory)) {}

  void load(const std::uint8_t* row, int width, int min_disparity, int padded) {
    for_each_candidate(row, width, min_disparity, padded, [&](int i, std::uint8_t rank) { ranks_[i] = rank; });
  }
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, std::uint8_t left, int i) const {
    if constexpr (sizeof(hn::TFromD<D>) == 1) {
      return absolute_difference(d, hn::Set(d, left), hn::LoadU(d, ranks_ + i));
    } else {
      return hn::PromoteTo(d, block(hn::Rebind<std::uint8_t, D>(), left, i));
    }
  }

 private:
  std::uint8_t* ranks_;
};

template <class Word>
class Candidates<Census<Word>> {
 public:
  static constexpr std::size_t bytes_per_entry = sizeof(Word);
  Candidates(const Census<Word>&, std::byte* memory, int) : words_(reinterpret_cast<Word*>(memory)) {}

  void load(const Word* row, int width, int min_disparity, int padded) {
    for_each_candidate(row, width, min_disparity, padded, [&](int i, Word word) { words_[i] = word; });
  }
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, Word left, int i) const {
    return hamming_distances(d, left, words_ + i);
  }

 private:
  Word* words_;
};

// Census bits and gradients are kept apart, so that the gradients' costs are made in 8-bit lanes.
template <>
class Candidates<CensusGradient> {
 public:
  static constexpr std::size_t bytes_per_entry = 5;
  Candidates(const CensusGradient& kind, std::byte* memory, int entries)
      : kind_(kind), census_(reinterpret_cast<std::uint32_t*>(memory)),
        gradients_(reinterpret_cast<std::uint8_t*>(census_ + entries)) {}

  void load(const std::uint32_t* row, int width, int min_disparity, int padded) {
    for_each_candidate(row, width, min_disparity, padded, [&](int i, std::uint32_t word) {
      census_[i] = word & 0xFFFFFF;
      gradients_[i] = static_cast<std::uint8_t>(word >> 24);
    });
  }
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, std::uint32_t left, int i) const {
    using Lane = hn::TFromD<D>;
    const auto hamming = hamming_distances(d, left & 0xFFFFFF, census_ + i);
    return hn::Add(times(d, hamming, kind_.census_weight), hn::Min(gradient_differences(d, static_cast<std::uint8_t>(left >> 24), i),
                                                                 hn::Set(d, static_cast<Lane>(kind_.gradient_limit))));
  }

 private:
  template <class D>
  HWY_INLINE hn::VFromD<D> gradient_differences(D d, std::uint8_t left, int i) const {
    if constexpr (sizeof(hn::TFromD<D>) == 1) {
      return absolute_difference(d, hn::Set(d, left), hn::LoadU(d, gradients_ + i));
    } else {
      return hn::PromoteTo(d, gradient_differences(hn::Rebind<std::uint8_t, D>(), left, i));
    }
  }
  // 8-bit lanes have no product; weights are small.
  template <class D>
  static HWY_INLINE hn::VFromD<D> times(D d, hn::VFromD<D> v, int weight) {
    auto product = hn::Zero(d);
    for (int i = 0; i < weight; ++i) product = hn::Add(product, v);
    return product;
  }

  CensusGradient kind_;
  std::uint32_t* census_;
  std::uint8_t* gradients_;
};

}  // namespace stereopsis::cost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
