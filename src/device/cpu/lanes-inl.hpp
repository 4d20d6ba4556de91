// What several CPU stages need around Highway: rows cut into vectors, narrow stores.
// Included once per SIMD target, hence the unusual guard.
#if defined(STEREOPSIS_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_LANES_INL
#undef STEREOPSIS_LANES_INL
#else
#define STEREOPSIS_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace stereopsis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Covers [0, last + first) of a row whose window fits inside it only on [first, last): calls vector(x)
// for whole vectors of pixels inside [first, last) and scalar(x) for what is left. The last vector
// overlaps its neighbour, so that no tail is left over in a row of at least one vector.
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

// Stores lanes that hold values below 256 as bytes.
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
