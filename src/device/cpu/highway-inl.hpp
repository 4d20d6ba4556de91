// Highway, with functions of Highway 1.0 that version 0.16 lacks or computes wrongly, which Ubuntu 22.04 and JetPack 6 have.
// The results are those of Highway 1.0; the functions for interleaved values take longer, because they copy single values.
// The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_HIGHWAY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_HIGHWAY_INL
#undef STEREOPSIS_HIGHWAY_INL
#else
#define STEREOPSIS_HIGHWAY_INL
#endif

#include <hwy/highway.h>

#if HWY_MAJOR == 0
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hwy {
namespace HWY_NAMESPACE {

template <class V>
HWY_INLINE auto IsNaN(V v) {
  return Not(v == v);  // not v != v, which is false for NaN in version 0.16 on AVX2
}

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
// In C++20, != of these vectors would be the negation of ==, which is not a bool. Whole vectors have functions of their own,
// as == of NEON has.
#define STEREOPSIS_UNEQUAL(T)                                           \
  template <std::size_t N>                                              \
  HWY_INLINE Mask128<T, N> operator!=(Vec128<T, N> a, Vec128<T, N> b) { \
    return Not(a == b);                                                 \
  }                                                                     \
  HWY_INLINE Mask128<T, 16 / sizeof(T)> operator!=(Vec128<T> a, Vec128<T> b) { return Not(a == b); }
STEREOPSIS_UNEQUAL(std::uint16_t)
STEREOPSIS_UNEQUAL(std::int32_t)
STEREOPSIS_UNEQUAL(std::uint32_t)
#undef STEREOPSIS_UNEQUAL
#endif

// Version 0.16 reads half of the values as signed ones.
template <class D, class V, class Function>
HWY_INLINE V reduced_pairs(D d, V v, Function&& reduced) {
  const Repartition<std::uint32_t, D> pairs;
  const auto even = And(BitCast(pairs, v), Set(pairs, 0xFFFF)), odd = ShiftRight<16>(BitCast(pairs, v));
  const auto found = reduced(pairs, even, odd);
  return BitCast(d, Or(found, ShiftLeft<16>(found)));
}

template <class D, class V>
HWY_INLINE V lowest_of_words(D d, V v) {
  return reduced_pairs(d, v, [](auto pairs, auto a, auto b) HWY_ATTR { return MinOfLanes(pairs, Min(a, b)); });
}

template <class D, class V>
HWY_INLINE V largest_of_words(D d, V v) {
  return reduced_pairs(d, v, [](auto pairs, auto a, auto b) HWY_ATTR { return MaxOfLanes(pairs, Max(a, b)); });
}

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
template <std::size_t N>
  requires(N > 1)
HWY_INLINE Vec128<std::uint16_t, N> MinOfLanes(Simd<std::uint16_t, N, 0> d, Vec128<std::uint16_t, N> v) {
  return lowest_of_words(d, v);
}
template <std::size_t N>
  requires(N > 1)
HWY_INLINE Vec128<std::uint16_t, N> MaxOfLanes(Simd<std::uint16_t, N, 0> d, Vec128<std::uint16_t, N> v) {
  return largest_of_words(d, v);
}
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
HWY_INLINE Vec256<std::uint16_t> MinOfLanes(Full256<std::uint16_t> d, Vec256<std::uint16_t> v) {
  return lowest_of_words(d, v);
}
HWY_INLINE Vec256<std::uint16_t> MaxOfLanes(Full256<std::uint16_t> d, Vec256<std::uint16_t> v) {
  return largest_of_words(d, v);
}
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE Vec512<std::uint16_t> MinOfLanes(Full512<std::uint16_t> d, Vec512<std::uint16_t> v) {
  return lowest_of_words(d, v);
}
HWY_INLINE Vec512<std::uint16_t> MaxOfLanes(Full512<std::uint16_t> d, Vec512<std::uint16_t> v) {
  return largest_of_words(d, v);
}
#endif

// Returns sum0 plus the products of neighbours; sum1 keeps its value, as in Highway on x86.
template <class D, class V16, class V32>
HWY_INLINE V32 ReorderWidenMulAccumulate(D d, V16 a, V16 b, V32 sum0, V32&) {
  const auto first = [d](V16 v) HWY_ATTR { return ShiftRight<16>(ShiftLeft<16>(BitCast(d, v))); };
  const auto second = [d](V16 v) HWY_ATTR { return ShiftRight<16>(BitCast(d, v)); };
  return Add(sum0, Add(Mul(first(a), first(b)), Mul(second(a), second(b))));
}

template <class V>
HWY_INLINE V RearrangeToOddPlusEven(V sum0, V sum1) {
  return Add(sum0, sum1);
}

// Sets the vectors v to every n-th value, for n vectors.
template <class D, class... V>
HWY_INLINE void load_interleaved(D d, const TFromD<D>* from, V&... v) {
  constexpr std::size_t vectors = sizeof...(V);
  TFromD<D> values[vectors][HWY_MAX_BYTES / sizeof(TFromD<D>)];
  for (std::size_t lane = 0; lane < Lanes(d); ++lane)
    for (std::size_t i = 0; i < vectors; ++i) values[i][lane] = from[vectors * lane + i];
  std::size_t i = 0;
  ((v = LoadU(d, values[i++])), ...);
}

template <class D, class... V>
HWY_INLINE void store_interleaved(D d, TFromD<D>* to, V... v) {
  constexpr std::size_t vectors = sizeof...(V);
  TFromD<D> values[vectors][HWY_MAX_BYTES / sizeof(TFromD<D>)];
  std::size_t i = 0;
  (StoreU(v, d, values[i++]), ...);
  for (std::size_t lane = 0; lane < Lanes(d); ++lane)
    for (std::size_t j = 0; j < vectors; ++j) to[vectors * lane + j] = values[j][lane];
}

template <class D, class V>
HWY_INLINE void LoadInterleaved3(D d, const TFromD<D>* from, V& v0, V& v1, V& v2) {
  load_interleaved(d, from, v0, v1, v2);
}

template <class D, class V>
HWY_INLINE void LoadInterleaved4(D d, const TFromD<D>* from, V& v0, V& v1, V& v2, V& v3) {
  load_interleaved(d, from, v0, v1, v2, v3);
}

template <class D, class V>
HWY_INLINE void StoreInterleaved2(V v0, V v1, D d, TFromD<D>* to) {
  store_interleaved(d, to, v0, v1);
}

// The next two exist for bytes.
template <class D, class V>
  requires(sizeof(TFromD<D>) != 1)
HWY_INLINE void StoreInterleaved3(V v0, V v1, V v2, D d, TFromD<D>* to) { store_interleaved(d, to, v0, v1, v2); }

template <class D, class V>
  requires(sizeof(TFromD<D>) != 1)
HWY_INLINE void StoreInterleaved4(V v0, V v1, V v2, V v3, D d, TFromD<D>* to) {
  store_interleaved(d, to, v0, v1, v2, v3);
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
HWY_AFTER_NAMESPACE();
#endif  // HWY_MAJOR == 0

#endif  // once for each target
