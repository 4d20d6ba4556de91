#include "device/cpu/threads.hpp"
#include "stages/quantise/quantise.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/quantise/quantise_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::quantise::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::VFromD<D> loaded(D d, const float* costs) {
  return hn::LoadU(d, costs);
}
template <class D>
HWY_INLINE hn::VFromD<D> loaded(D d, const std::uint16_t* costs) {
  const hn::RebindToSigned<D> di;
  const auto cost = hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::uint16_t, D>(), costs));
  // The largest value marks an absent candidate, for any scale.
  const auto none = hn::RebindMask(d, hn::Eq(cost, hn::Set(di, 65535)));
  return hn::IfThenElse(none, hn::Set(d, 3e38f), hn::ConvertTo(d, cost));
}

template <class D>
HWY_INLINE hn::VFromD<D> loaded(D d, const std::uint8_t* costs) {
  const hn::RebindToSigned<D> di;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::uint8_t, D>(), costs)));
}

template <class D, class T>
HWY_INLINE void quantise_block(D d, float scale, const T* costs, std::uint8_t* quantised) {
  const auto cost = loaded(d, costs);
  const auto scaled = hn::Mul(hn::Set(d, scale), hn::Max(cost, hn::Zero(d)));
  const auto rounded = hn::Floor(hn::Add(scaled, hn::Set(d, 0.5f)));
  const auto most = hn::Set(d, 255.0f);
  const auto value = hn::IfThenElse(hn::Lt(rounded, most), rounded, most);
  const auto number = hn::IfThenElse(hn::Eq(cost, cost), value, most);
  const hn::Rebind<std::uint8_t, D> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(hn::RebindToSigned<D>(), number)), d8, quantised);
}

template <class T>
void quantise_rows(float scale, const VolumeView<const T>& costs, const VolumeView<std::uint8_t>& quantised, int first,
                   int last) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  for (int y = first; y < last; ++y) {
    const T* from = costs.row(y);
    std::uint8_t* to = quantised.row(y);
    for_each_block(
        d, 0, costs.width * costs.disparities, [&](int i) { quantise_block(d, scale, from + i, to + i); },
        [&](int i) { quantise_block(one, scale, from + i, to + i); });
  }
}
void quantise_rows_u8(float scale, const VolumeView<const std::uint8_t>& costs,
                      const VolumeView<std::uint8_t>& quantised, int first, int last) {
  quantise_rows(scale, costs, quantised, first, last);
}
void quantise_rows_u16(float scale, const VolumeView<const std::uint16_t>& costs,
                       const VolumeView<std::uint8_t>& quantised, int first, int last) {
  quantise_rows(scale, costs, quantised, first, last);
}
void quantise_rows_f32(float scale, const VolumeView<const float>& costs, const VolumeView<std::uint8_t>& quantised,
                       int first, int last) {
  quantise_rows(scale, costs, quantised, first, last);
}

}  // namespace stereopsis::quantise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::quantise {

HWY_EXPORT(quantise_rows_u8);
HWY_EXPORT(quantise_rows_u16);
HWY_EXPORT(quantise_rows_f32);

template <class T>
void cpu(float scale, VolumeView<const T> costs, VolumeView<std::uint8_t> quantised, Threads& threads) {
  threads.rows(costs.height, [&](int first, int last) {
    if constexpr (std::is_same_v<T, float>)
      HWY_DYNAMIC_DISPATCH(quantise_rows_f32)(scale, costs, quantised, first, last);
    else if constexpr (std::is_same_v<T, std::uint8_t>)
      HWY_DYNAMIC_DISPATCH(quantise_rows_u8)(scale, costs, quantised, first, last);
    else
      HWY_DYNAMIC_DISPATCH(quantise_rows_u16)(scale, costs, quantised, first, last);
  });
}

#define STEREOPSIS_INSTANCE(T) template void cpu(float, VolumeView<const T>, VolumeView<std::uint8_t>, Threads&);
STEREOPSIS_FOR_EACH_QUANTISED(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::quantise
#endif
