// Highway, as the namespace hn, and helpers on top of it for CPU stages: rows cut into vectors, narrow stores, reductions.
// The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_LANES_INL
#undef STEREOPSIS_LANES_INL
#else
#define STEREOPSIS_LANES_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/sorting_network.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns lanes with first, first + 1, … Highway's Iota builds the lanes one by one if `first` is not a compile-time
// constant.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::VFromD<D> counted_from(D d, T first) {
  return hn::Add(hn::Iota(d, 0), hn::Set(d, first));
}

// Covers the pixels [0, last + first) of a row, whose windows lie inside the row only for [first, last). Calls
// vector(x) for whole vectors of pixels in [first, last), and scalar(x) for all other pixels. The last vector overlaps
// the previous one, so that a row of at least one vector has no scalar tail.
template <class D, class VectorFunction, class ScalarFunction>
HWY_INLINE void for_each_block(D d, int first, int last, VectorFunction&& vector, ScalarFunction&& scalar) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int width = last + first;
  if (last - first < lanes) {
    for (int x = 0; x < width; ++x) scalar(x);
    return;
  }
  for (int x = 0; x < first; ++x) scalar(x);
  for (int x = first; x + lanes <= last; x += lanes) vector(x);
  if ((last - first) % lanes != 0) vector(last - lanes);
  for (int x = last; x < width; ++x) scalar(x);
}

// Copies the pixels [first, first + count) of a row; borders replicate.
template <class T>
void copy_replicated(const T* row, int width, int first, int count, T* out) {
  const int before = std::clamp(-first, 0, count);
  const int behind = std::clamp(first + count - width, 0, count);
  std::fill_n(out, before, row[0]);
  if (before + behind < count) std::copy_n(row + first + before, count - before - behind, out + before);
  std::fill_n(out + count - behind, behind, row[width - 1]);
}

// Copies Lanes(d) pixels of a row, starting at `start`, and `radius` more pixels on each side; borders replicate.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void copy_block_replicated(D d, const T* row, int width, int start, int radius, T* out) {
  const int lanes = static_cast<int>(hn::Lanes(d)), last = width - lanes;
  if (last < radius || radius > lanes || (start != 0 && start != last))
    return copy_replicated(row, width, start - radius, lanes + 2 * radius, out);
  const T* pixels = row + start;
  const bool left = start == 0;  // true at the left end of the row, false at the right end
  hn::StoreU(hn::Set(d, left ? row[0] : row[width - 1]), d, out + (left ? 0 : 2 * radius));
  hn::StoreU(hn::LoadU(d, pixels), d, out + radius);
  hn::StoreU(hn::LoadU(d, pixels + (left ? radius : -radius)), d, out + (left ? 2 * radius : 0));
}

// Covers a row [0, width) with blocks of Lanes(d) pixels whose windows reach `radius` to each side. Calls f(rows, x,
// out) for each block. `rows` has a pointer to the first pixel of the block for each row of the window, in the image or
// in a copy with replicated borders. `out` receives the Lanes(d) results of the block. Blocks overlap, so that only the
// first and the last block of a wide row need copies. A row may be narrower than a block.
template <int max_rows, int max_radius, class D, class Out, class F>
HWY_INLINE void for_each_window_block(D d, const std::array<const hn::TFromD<D>*, max_rows>& rows, int count,
                                      int radius, int width, Out* out, F&& f) {
  using T = hn::TFromD<D>;
  constexpr int max_lanes = static_cast<int>(hn::MaxLanes(D()));
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int last = std::max(0, width - lanes), last_inside = width - lanes - radius;
  T copies[max_rows][max_lanes + 2 * max_radius];
  Out results[max_lanes];
  std::array<const T*, max_rows> block{};
  for (int x = 0;; x = std::min(x + lanes, x < last_inside ? last_inside : last)) {
    const bool inside = x >= radius && x <= last_inside;
    for (int i = 0; i < count; ++i) {
      if (!inside) copy_block_replicated(d, rows[i], width, x, radius, copies[i]);
      block[i] = inside ? rows[i] + x : copies[i] + radius;
    }
    f(block, x, lanes <= width ? out + x : results);
    if (x == last) break;
  }
  if (width < lanes) std::copy_n(results, width, out);
}

// Sorts v[0…n − 1] in each lane; no value may be NaN.
template <int n, class V>
HWY_INLINE void sort_lanes(V* v) {
  const auto exchange = [v](Comparator c) HWY_ATTR {
    const V smaller = hn::Min(v[c.low], v[c.high]);
    v[c.high] = hn::Max(v[c.low], v[c.high]);
    v[c.low] = smaller;
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR { (exchange(sorting_network<n>.comparators[i]), ...); }
  (std::make_index_sequence<sorting_network<n>.size>());
}

// Repeats a value of 8 or 16 bits to fill 32 bits. Processors broadcast a 32-bit load to all lanes at no cost, but not
// a narrower one.
constexpr std::uint32_t repeated(std::uint8_t value) { return value * 0x01010101u; }
constexpr std::uint32_t repeated(std::uint16_t value) { return value * 0x00010001u; }

template <class T>
void repeat(const T* values, int count, std::uint32_t* words) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto vector = [&](int i) HWY_ATTR {
    auto word = hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, decltype(d)>(), values + i));
    if constexpr (sizeof(T) == 1) word = hn::Or(word, hn::ShiftLeft<8>(word));
    hn::StoreU(hn::Or(word, hn::ShiftLeft<16>(word)), d, words + i);
  };
  for_each_block(d, 0, count, vector, [&](int i) { words[i] = repeated(values[i]); });
}

template <class D>
HWY_INLINE hn::VFromD<D> load_repeated(D d, const std::uint32_t* word) {
  return hn::BitCast(d, hn::Set(hn::Repartition<std::uint32_t, D>(), *word));
}

// Merges a and b into half as many lanes: each result is the smaller of two lanes. Lanes of a and b alternate in the
// result, in units of Wide.
template <class Wide, class D, class V = hn::VFromD<D>>
HWY_INLINE V merge_minima(D d, V a, V b) {
  const hn::Repartition<Wide, D> wide;
  const auto lower = hn::InterleaveLower(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
  const auto upper = hn::InterleaveUpper(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
  return hn::Min(hn::BitCast(d, lower), hn::BitCast(d, upper));
}

// Returns the sums of lanes 2i and 2i + 1.
template <class D8, class D16 = hn::Repartition<std::uint16_t, D8>>
HWY_INLINE hn::VFromD<D16> sums_of_pairs([[maybe_unused]] D8 d8, hn::VFromD<D8> v) {
#if HWY_ARCH_X86
  // One instruction multiplies by ones and adds neighbours, but Highway does not offer it.
  const auto ones = hn::Set(d8, 1);
  if constexpr (sizeof(v) == 64)
    return hn::VFromD<D16>{_mm512_maddubs_epi16(v.raw, ones.raw)};
  else if constexpr (sizeof(v) == 32)
    return hn::VFromD<D16>{_mm256_maddubs_epi16(v.raw, ones.raw)};
  else
    return hn::VFromD<D16>{_mm_maddubs_epi16(v.raw, ones.raw)};
#else
  const D16 d16;
  const auto pairs = hn::BitCast(d16, v);
  return hn::Add(hn::And(pairs, hn::Set(d16, 0xFF)), hn::ShiftRight<8>(pairs));
#endif
}

// Returns the 128-bit blocks in the order 0, 2, 1, 3 if there are four. Otherwise, returns them in the same order.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V swap_middle_blocks(D d, V v) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 64) {
    const hn::Repartition<std::uint64_t, D> d64;
    alignas(64) static constexpr std::uint64_t order[8] = {0, 1, 4, 5, 2, 3, 6, 7};
    return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(d64, v), hn::SetTableIndices(d64, order)));
  } else {
    return v;
  }
}

// Returns the minima over all 128-bit blocks.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE auto minima_of_blocks(D, V v) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return minima_of_blocks(half, hn::Min(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}

// Returns the minima over all 128-bit blocks, repeated in every block.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V minima_in_all_blocks(D d, V v) {
  constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (bytes > 32) v = hn::Min(v, hn::ReverseBlocks(d, v));
  if constexpr (bytes > 16) v = hn::Min(v, hn::SwapAdjacentBlocks(v));
  return v;
}

// Stores lanes whose values are below 256 as bytes.
template <class D, class V>
HWY_INLINE void store_narrowed(D d, V v, std::uint8_t* out) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    hn::StoreU(v, d, out);
  } else {
    const hn::Rebind<std::uint8_t, D> d8;
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(hn::RebindToSigned<D>(), v)), d8, out);
  }
}

}  // namespace stereopsis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
