// Integer division in SIMD lanes, for CPU stages. The file is included once for each SIMD target, hence the unusual
// include guard.
#if defined(STEREOPSIS_QUOTIENT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_QUOTIENT_INL
#undef STEREOPSIS_QUOTIENT_INL
#else
#define STEREOPSIS_QUOTIENT_INL
#endif

#include <cstdint>

#include "device/cpu/highway-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns ⌊dividend / divisor⌋ in 32-bit lanes, for quotients below 2¹⁶: the float quotient is then off by at most one.
template <class D>
HWY_INLINE hn::VFromD<D> quotient(D d, hn::VFromD<D> dividend, std::int32_t divisor) {
  const hn::Rebind<float, D> f;
  const auto inverse = hn::Set(f, 1.0f / static_cast<float>(divisor));
  const auto by = hn::Set(d, divisor);
  const auto q = hn::ConvertTo(d, hn::Mul(hn::ConvertTo(f, dividend), inverse));
  const auto left_over = hn::Sub(dividend, hn::Mul(q, by));
  const auto too_large = hn::VecFromMask(d, hn::Lt(left_over, hn::Zero(d)));
  const auto too_small = hn::IfThenZeroElse(hn::Lt(left_over, by), hn::Set(d, 1));
  return hn::Add(hn::Add(q, too_large), too_small);
}

}  // namespace stereopsis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
