#include "stages/median/median.hpp"

#include "device/cpu/threads.hpp"
#include "stereopsis/disparity.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/median/median_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::median::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

// Invalid pixels become −∞ and +∞ by turns: the middle of all is then the lower middle of the valid ones.
template <int window, class D, class Rows>
HWY_INLINE hn::VFromD<D> median_block(D d, const Rows& rows) {
  hn::VFromD<D> v[window * window];
  auto filler = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int i = 0; i < window * window; ++i) {
    const auto value = hn::LoadU(d, rows[i / window] + i % window - window / 2);
    const auto invalid = hn::IsNaN(value);
    v[i] = hn::IfThenElse(invalid, filler, hn::Add(value, hn::Zero(d)));  // −0 + 0 = +0
    filler = hn::IfThenElse(invalid, hn::Neg(filler), filler);
  }
  sort_lanes<window * window>(v);
  const auto centre = hn::LoadU(d, rows[window / 2]);
  return hn::IfThenElse(hn::IsNaN(centre), hn::Set(d, invalid_disparity), v[window * window / 2]);
}

template <int window>
void median_window(ImageView<const float> disparity, ImageView<float> filtered, int first, int last) {
  const hn::ScalableTag<float> d;
  for (int y = first; y < last; ++y) {
    std::array<const float*, window> rows;
    for (int i = 0; i < window; ++i) rows[i] = disparity.row(std::clamp(y + i - window / 2, 0, disparity.height - 1));
    for_each_window_block<window, window / 2>(
        d, rows, window, window / 2, disparity.width, filtered.row(y),
        [&](const auto& block, float* out) { hn::StoreU(median_block<window>(d, block), d, out); });
  }
}

void median_rows(int window, ImageView<const float> disparity, ImageView<float> filtered, int first, int last) {
  if (window == 3)
    median_window<3>(disparity, filtered, first, last);
  else
    median_window<5>(disparity, filtered, first, last);
}

}  // namespace stereopsis::median::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::median {

HWY_EXPORT(median_rows);

void cpu(const Parameters& p, ImageView<const float> disparity, ImageView<float> filtered, Threads& threads) {
  check_not_in_place(disparity, filtered);
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(median_rows)(p.window, disparity, filtered, first, last);
  });
}

}  // namespace stereopsis::median
#endif
