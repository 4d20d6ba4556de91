#include "stages/sum/sum.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/sum/sum_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/sum/sum_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sum::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void add_row(const Parameters& p, const std::uint8_t* costs, std::uint8_t* sums, std::ptrdiff_t count) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const Adder<decltype(d)> adder(p);
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(adder(hn::LoadU(d, costs + i), hn::LoadU(d, sums + i)), d, sums + i);
  if (i == count) return;
  HWY_ALIGN std::uint8_t rest[2][hn::MaxLanes(d)] = {};
  std::copy(costs + i, costs + count, rest[0]);
  std::copy(sums + i, sums + count, rest[1]);
  hn::Store(adder(hn::Load(d, rest[0]), hn::Load(d, rest[1])), d, rest[1]);
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
