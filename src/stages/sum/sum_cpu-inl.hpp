// Adds blocks of two matching costs, for CPU engines. The file is included once for each SIMD target, hence the unusual
// include guard.
#if defined(STEREOPSIS_SUM_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUM_CPU_INL
#undef STEREOPSIS_SUM_CPU_INL
#else
#define STEREOPSIS_SUM_CPU_INL
#endif

#include <cstdint>

#include "device/cpu/highway-inl.hpp"
#include "stages/sum/sum.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sum::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Saturates the lanes of two vectors, which are below 2¹⁵, to bytes. Their order is that of InterleaveLower and
// InterleaveUpper with zeros.
template <class D8, class D16 = hn::Repartition<std::uint16_t, D8>>
HWY_INLINE hn::VFromD<D8> to_bytes([[maybe_unused]] D8 d8, hn::VFromD<D16> lower, hn::VFromD<D16> upper) {
#if HWY_ARCH_X86
  // One instruction does it, but Highway does not offer it.
  if constexpr (sizeof(lower) == 64)
    return hn::VFromD<D8>{_mm512_packus_epi16(lower.raw, upper.raw)};
  else if constexpr (sizeof(lower) == 32)
    return hn::VFromD<D8>{_mm256_packus_epi16(lower.raw, upper.raw)};
  else
    return hn::VFromD<D8>{_mm_packus_epi16(lower.raw, upper.raw)};
#else
  const hn::RebindToSigned<D16> d;
  const hn::Half<D8> half;
  return hn::Combine(d8, hn::DemoteTo(half, hn::BitCast(d, upper)), hn::DemoteTo(half, hn::BitCast(d, lower)));
#endif
}

template <class D8>
class Adder {
  using V = hn::VFromD<D8>;
  using D16 = hn::Repartition<std::uint16_t, D8>;

 public:
  explicit Adder(const Parameters& p)
      : first_(hn::Set(D16(), static_cast<std::uint16_t>(p.cost_weight))),
        second_(hn::Set(D16(), static_cast<std::uint16_t>(p.plus_weight))) {}

  HWY_INLINE V operator()(V costs, V plus) const {
    const D8 d;
    const V zero = hn::Zero(d);
    const auto lower = sums(hn::InterleaveLower(d, costs, zero), hn::InterleaveLower(d, plus, zero));
    const auto upper = sums(hn::InterleaveUpper(d, costs, zero), hn::InterleaveUpper(d, plus, zero));
    return to_bytes(d, lower, upper);
  }

 private:
  // The 8-bit result saturates if the 16-bit sum saturates.
  HWY_INLINE hn::VFromD<D16> sums(V costs, V plus) const {
    const D16 d;
    const auto sum = hn::SaturatedAdd(
        hn::SaturatedAdd(hn::Mul(first_, hn::BitCast(d, costs)), hn::Mul(second_, hn::BitCast(d, plus))),
        hn::Set(d, 32));
    return hn::ShiftRight<6>(sum);
  }

  hn::VFromD<D16> first_, second_;
};

}  // namespace stereopsis::sum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
