// The costs of a left pixel for all its candidates, for CPU engines that evaluate costs on the fly.
//
// A row of the right view is stored in reverse order, so that the candidates of a pixel are contiguous in memory. The
// candidates of column x, from the lowest disparity on, start at index width − 1 − x. The file is included once for
// each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_COST_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_COST_CPU_INL
#undef STEREOPSIS_COST_CPU_INL
#else
#define STEREOPSIS_COST_CPU_INL
#endif

#include <hwy/cache_control.h>

#include <algorithm>

#include "device/cpu/lanes-inl.hpp"
#include "stages/cost/cost.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::cost::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// Calls put(i, word) for the width + padded − 1 candidates of a row. Borders replicate.
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

// A left pixel: its word, or each of its bytes, repeated to fill 32 bits.
struct RepeatedBytes {
  const std::uint32_t* bytes;
};
template <class D8, class Word>
HWY_INLINE hn::VFromD<D8> left_byte(D8 d8, const Word& left, int p) {
  return hn::Set(d8, byte_of(left, p));
}
template <class D8>
HWY_INLINE hn::VFromD<D8> left_byte(D8 d8, RepeatedBytes left, int p) {
  return load_repeated(d8, left.bytes + p);
}

// Words that are split into planes of bytes, so that all costs are computed in 8-bit lanes without a change of width.
template <int kPlanes>
class BytePlanes {
 public:
  BytePlanes(std::byte* memory, int entries) : bytes_(reinterpret_cast<std::uint8_t*>(memory)), entries_(entries) {}

  // Loads the width + padded − 1 candidates of a row. Borders replicate.
  template <class Word>
  void load(const Word* row, int width, int min_disparity, int padded) {
    const int entries = width + padded - 1;
    // Column of entry 0. Later entries lie farther left.
    const long long column = static_cast<long long>(width) - 1 - min_disparity;
    const int first = static_cast<int>(std::clamp<long long>(column - width + 1, 0, entries));
    const int last = static_cast<int>(std::clamp<long long>(column + 1, first, entries));
    for (int p = 0; p < kPlanes; ++p) {
      std::fill_n(plane(p), first, byte_of(row[width - 1], p));
      std::fill(plane(p) + last, plane(p) + entries, byte_of(row[0], p));
    }
    take_apart(row + (column - last + 1), last - first, first);
  }
  std::uint8_t* plane(int p) const { return bytes_ + static_cast<std::ptrdiff_t>(p) * entries_; }

  // Returns the number of differing bits in the planes [0, kCount).
  template <int kCount, class D8, class Left>
  HWY_INLINE hn::VFromD<D8> hamming_distances(D8 d8, const Left& left, int i) const {
    auto sum = hn::Zero(d8);
    for (int p = 0; p < kCount; ++p) {
      const auto differing = hn::Xor(left_byte(d8, left, p), hn::LoadU(d8, plane(p) + i));
      sum = hn::Add(sum, hn::PopulationCount(differing));
    }
    return sum;
  }

 private:
  // Stores words of neighbouring columns, the last column first, in the entries from `first` on.
  template <class Word>
  void take_apart(const Word* words, int count, int first) {
    int done = 0;
    if constexpr (sizeof(Word) == 4) {
      const hn::ScalableTag<std::uint32_t> d;
      const hn::RebindToSigned<decltype(d)> di;
      const hn::Rebind<std::uint8_t, decltype(d)> d8;
      const int lanes = static_cast<int>(hn::Lanes(d));
      const auto low = hn::Set(d, 0xFF);
      for (; done + lanes <= count; done += lanes) {
        auto block = hn::Reverse(d, hn::LoadU(d, words + count - done - lanes));
        for (int p = 0; p < kPlanes; ++p) {
          hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, hn::And(block, low))), d8, plane(p) + first + done);
          block = hn::ShiftRight<8>(block);
        }
      }
    }
    for (; done < count; ++done)
      for (int p = 0; p < kPlanes; ++p) plane(p)[first + done] = byte_of(words[count - 1 - done], p);
  }

  std::uint8_t* bytes_;
  int entries_;
};

// Calls f(d8), which computes costs in 8 bits, and widens the costs to the lanes of d.
template <class D, class F>
HWY_INLINE hn::VFromD<D> from_bytes(D d, F&& f) {
  if constexpr (sizeof(hn::TFromD<D>) == 1)
    return f(d);
  else
    return hn::PromoteTo(d, f(hn::Rebind<std::uint8_t, D>()));
}

// The costs of the pixels of a row of a volume. Blocks may end up to 64 bytes after the costs of a pixel.
class GivenRow {
 public:
  GivenRow(const Given& kind, int y)
      : disparities_(kind.volume.disparities),
        costs_(kind.volume.row(y)),
        largest_(repeated(static_cast<std::uint8_t>(kind.largest))) {}
  // Returns costs of the pixel in column x, from index k on.
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, int x, int k) const {
    return from_bytes(
        d, [&](auto d8) HWY_ATTR { return hn::Min(hn::LoadU(d8, pixel(x) + k), load_repeated(d8, &largest_)); });
  }
  HWY_INLINE void prefetch(int x) const {
    for (int k = 0; k < disparities_; k += 64) hwy::Prefetch(pixel(x) + k);
  }

 private:
  HWY_INLINE const std::uint8_t* pixel(int x) const { return costs_ + static_cast<std::ptrdiff_t>(x) * disparities_; }

  int disparities_;
  const std::uint8_t* costs_;
  std::uint32_t largest_;  // repeated
};

// The candidates of a row. The function block(d, left, i) returns the costs of Lanes(d) candidates from index i on, in
// 8 or 16 bits.
template <class Kind>
class Candidates;

template <>
class Candidates<Rank> : BytePlanes<1> {
 public:
  static constexpr std::size_t bytes_per_entry = 1;
  Candidates(const Rank&, std::byte* memory, int entries) : BytePlanes(memory, entries) {}
  using BytePlanes::load;

  template <class D, class Left>
  HWY_INLINE hn::VFromD<D> block(D d, const Left& left, int i) const {
    return from_bytes(
        d, [&](auto d8) { return absolute_difference(d8, left_byte(d8, left, 0), hn::LoadU(d8, plane(0) + i)); });
  }
};

template <class Word>
class Candidates<Census<Word>> : BytePlanes<sizeof(Word)> {
 public:
  static constexpr std::size_t bytes_per_entry = sizeof(Word);
  Candidates(const Census<Word>&, std::byte* memory, int entries) : BytePlanes<sizeof(Word)>(memory, entries) {}
  using BytePlanes<sizeof(Word)>::load;

  template <class D, class Left>
  HWY_INLINE hn::VFromD<D> block(D d, const Left& left, int i) const {
    return from_bytes(d, [&](auto d8) { return this->template hamming_distances<sizeof(Word)>(d8, left, i); });
  }
};

// Returns costs in 8-bit lanes, from index i on. The function costs(d32, from) computes a quarter of the lanes in 16
// bits, from 32-bit products.
template <class D, class F>
HWY_INLINE hn::VFromD<D> from_quarters(D d, int i, F&& costs) {
  const hn::Half<D> half;
  const hn::Rebind<std::int32_t, hn::Half<hn::Half<D>>> d32;
  const int quarter = static_cast<int>(hn::Lanes(d32));
  const auto pair = [&](int from) HWY_ATTR {
    const hn::Rebind<std::int16_t, decltype(half)> d16;
    return hn::DemoteTo(half, hn::Combine(d16, costs(d32, from + quarter), costs(d32, from)));
  };
  return hn::Combine(d, pair(i + 2 * quarter), pair(i));
}

template <>
class Candidates<ColourGradient> {
 public:
  static constexpr std::size_t bytes_per_entry = 8;
  Candidates(const ColourGradient& kind, std::byte* memory, int entries)
      : kind_(kind), memory_(reinterpret_cast<std::uint16_t*>(memory)), entries_(entries) {}

  void load(const std::uint64_t* row, int width, int min_disparity, int padded) {
    for (int i = 0; i < width + padded - 1; ++i) {
      const long long x = static_cast<long long>(width) - 1 - min_disparity - i;
      const bool outside = !kind_.replicates && (x < 0 || x >= width);
      const std::uint64_t word = outside ? kind_.outside : row[std::clamp<long long>(x, 0, width - 1)];
      for (int p = 0; p < 3; ++p) plane(p)[i] = byte_of(word, p);
      plane(3)[i] = static_cast<std::uint16_t>(word >> 32);
    }
  }

  // Returns costs in 8-bit lanes, from index i on.
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, std::uint64_t left, int i) const {
    return from_quarters(d, i, [&](auto d32, int from) HWY_ATTR { return costs(d32, left, from); });
  }

 private:
  std::uint16_t* plane(int p) const { return memory_ + static_cast<std::ptrdiff_t>(p) * entries_; }

  // Computes a quarter of the lanes. Products have 32 bits, and costs 16 bits.
  template <class D32>
  HWY_INLINE hn::VFromD<hn::Rebind<std::int16_t, D32>> costs(D32 d32, std::uint64_t left, int i) const {
    const hn::Rebind<std::uint16_t, D32> d16;
    const auto distance = [&](int p, std::uint64_t value) HWY_ATTR {
      return absolute_difference(d16, hn::Set(d16, static_cast<std::uint16_t>(value)), hn::LoadU(d16, plane(p) + i));
    };
    const auto colours =
        hn::Add(hn::Add(distance(0, byte_of(left, 0)), distance(1, byte_of(left, 1))), distance(2, byte_of(left, 2)));
    const auto limited = hn::Min(colours, hn::Set(d16, static_cast<std::uint16_t>(kind_.colour_limit)));
    const auto gradient =
        hn::Min(distance(3, left >> 32), hn::Set(d16, static_cast<std::uint16_t>(kind_.gradient_limit)));
    const auto sum = hn::Add(hn::Mul(hn::PromoteTo(d32, limited), hn::Set(d32, kind_.colour_factor)),
                             hn::Mul(hn::PromoteTo(d32, gradient), hn::Set(d32, kind_.gradient_factor)));
    return hn::DemoteTo(hn::Rebind<std::int16_t, D32>(), hn::ShiftRight<16>(hn::Add(sum, hn::Set(d32, 32768))));
  }

  ColourGradient kind_;
  std::uint16_t* memory_;
  int entries_;
};

template <>
class Candidates<CensusGradient> : BytePlanes<4> {
 public:
  static constexpr std::size_t bytes_per_entry = 4;
  Candidates(const CensusGradient& kind, std::byte* memory, int entries)
      : BytePlanes(memory, entries),
        weight_(repeated(static_cast<std::uint16_t>(kind.census_weight))),
        limit_(repeated(static_cast<std::uint8_t>(kind.gradient_limit))) {}
  using BytePlanes::load;

  template <class D, class Left>
  HWY_INLINE hn::VFromD<D> block(D d, const Left& left, int i) const {
    return from_bytes(d, [&](auto d8) {
      const auto difference = absolute_difference(d8, left_byte(d8, left, 3), hn::LoadU(d8, plane(3) + i));
      const auto gradients = hn::Min(difference, load_repeated(d8, &limit_));
      // There is no instruction for products of 8-bit lanes. These products remain below 256, so that a 16-bit product
      // does not mix neighbouring lanes.
      const hn::Repartition<std::uint16_t, decltype(d8)> d16;
      const auto hamming = hn::BitCast(d16, hamming_distances<3>(d8, left, i));
      return hn::Add(gradients, hn::BitCast(d8, hn::Mul(hamming, load_repeated(d16, &weight_))));
    });
  }

 private:
  std::uint32_t weight_, limit_;  // repeated
};

template <>
class Candidates<AbsoluteDifference> : BytePlanes<4> {
 public:
  static constexpr std::size_t bytes_per_entry = 4;
  Candidates(const AbsoluteDifference& kind, std::byte* memory, int entries)
      : BytePlanes(memory, entries), limit_(repeated(static_cast<std::uint8_t>(kind.limit))) {}
  using BytePlanes::load;

  // Returns costs in 8-bit lanes, whose sums saturate at the largest limit.
  template <class D, class Left>
  HWY_INLINE hn::VFromD<D> block(D d, const Left& left, int i) const {
    auto sum = hn::Zero(d);
    for (int p = 0; p < 4; ++p)
      sum = hn::SaturatedAdd(sum, absolute_difference(d, left_byte(d, left, p), hn::LoadU(d, plane(p) + i)));
    return hn::Min(sum, load_repeated(d, &limit_));
  }

 private:
  std::uint32_t limit_;  // repeated
};

template <>
class Candidates<SquaredDifference> : BytePlanes<4> {
 public:
  static constexpr std::size_t bytes_per_entry = 4;
  Candidates(const SquaredDifference& kind, std::byte* memory, int entries)
      : BytePlanes(memory, entries), kind_(kind) {}
  using BytePlanes::load;

  // Returns costs in 8-bit lanes, from index i on.
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, std::uint32_t left, int i) const {
    return from_quarters(d, i, [&](auto d32, int from) HWY_ATTR { return costs(d32, left, from); });
  }

 private:
  // Computes a quarter of the lanes. Squares have 16 bits, and sums of squares have 32 bits.
  template <class D32>
  HWY_INLINE hn::VFromD<hn::Rebind<std::int16_t, D32>> costs(D32 d32, std::uint32_t left, int i) const {
    const hn::Rebind<std::uint16_t, D32> d16;
    const hn::Rebind<std::uint8_t, D32> d8;
    auto sum = hn::Zero(d32);
    for (int p = 0; p < 4; ++p) {
      const auto apart =
          hn::PromoteTo(d16, absolute_difference(d8, hn::Set(d8, static_cast<std::uint8_t>(byte_of(left, p))),
                                                 hn::LoadU(d8, plane(p) + i)));
      sum = hn::Add(sum, hn::PromoteTo(d32, hn::Mul(apart, apart)));
    }
    const auto limited = hn::Min(sum, hn::Set(d32, kind_.limit * kind_.limit));
    const auto scaled = hn::Add(hn::Mul(limited, hn::Set(d32, kind_.factor())), hn::Set(d32, 32768));
    return hn::DemoteTo(hn::Rebind<std::int16_t, D32>(), hn::ShiftRight<16>(scaled));
  }

  SquaredDifference kind_;
};

// Computes the costs of several rows. A block may write beyond its pixel. The pixel on the right then overwrites the
// excess. The last pixels of a row are computed separately, because the row of another thread may follow in memory.
template <class Kind>
void volume_rows(const Source<Kind>& source, int min_disparity, VolumeView<std::uint8_t> costs, std::byte* memory,
                 int entries, int first, int last) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), padded = (costs.disparities + lanes - 1) / lanes * lanes;
  Candidates<Kind> candidates(source.kind, memory, entries);
  HWY_ALIGN std::uint8_t apart[64];
  for (int y = first; y < last; ++y) {
    candidates.load(source.right.row(y), costs.width, min_disparity, padded);
    const std::uint8_t* const end = costs.pixel(costs.width - 1, y) + costs.disparities;
    for (int x = 0; x < costs.width; ++x) {
      const auto left = source.left(x, y);
      std::uint8_t* out = costs.pixel(x, y);
      for (int k = 0; k < costs.disparities; k += lanes) {
        const auto block = candidates.block(d, left, costs.width - 1 - x + k);
        if (out + k + lanes <= end) {
          hn::StoreU(block, d, out + k);
        } else {
          hn::Store(block, d, apart);
          std::copy_n(apart, std::min<std::ptrdiff_t>(costs.disparities - k, lanes), out + k);
        }
      }
    }
  }
}

}  // namespace stereopsis::cost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
