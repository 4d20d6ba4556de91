#include "stages/sum/sum.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/sum/sum_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sum::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::uint16_t>;
using D8 = hn::Rebind<std::uint8_t, D16>;

// The 8-bit result saturates if the 16-bit sum saturates.
HWY_INLINE hn::Vec<D8> sums_of(hn::Vec<D16> a, hn::Vec<D16> b, const std::uint8_t* costs, const std::uint8_t* sums) {
  const D16 d;
  const auto first = hn::Mul(a, hn::PromoteTo(d, hn::LoadU(D8(), costs)));
  const auto second = hn::Mul(b, hn::PromoteTo(d, hn::LoadU(D8(), sums)));
  const auto sum = hn::SaturatedAdd(hn::SaturatedAdd(first, second), hn::Set(d, 32));
  const hn::RebindToSigned<D16> signed_d;  // demotion saturates
  return hn::DemoteTo(D8(), hn::BitCast(signed_d, hn::ShiftRight<6>(sum)));
}

void add_row(const Parameters& p, const std::uint8_t* costs, std::uint8_t* sums, std::ptrdiff_t count) {
  const D16 d;
  const D8 d8;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto a = hn::Set(d, static_cast<std::uint16_t>(p.cost_weight)),
             b = hn::Set(d, static_cast<std::uint16_t>(p.plus_weight));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(sums_of(a, b, costs + i, sums + i), d8, sums + i);
  if (i == count) return;
  std::uint8_t rest[2][hn::MaxLanes(d)] = {};
  std::copy(costs + i, costs + count, rest[0]);
  std::copy(sums + i, sums + count, rest[1]);
  hn::StoreU(sums_of(a, b, rest[0], rest[1]), d8, rest[1]);
  std::copy_n(rest[1], count - i, sums + i);
}

}  // namespace stereopsis::sum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::sum {

HWY_EXPORT(add_row);

void cpu(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint8_t> sums, Threads& threads) {
  const std::ptrdiff_t cells = static_cast<std::ptrdiff_t>(sums.width) * sums.disparities;
  threads.rows(sums.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) HWY_DYNAMIC_DISPATCH(add_row)(p, costs.row(y), sums.row(y), cells);
  });
}

}  // namespace stereopsis::sum
#endif
