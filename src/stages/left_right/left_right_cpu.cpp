#include "stages/left_right/left_right.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/left_right/left_right_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::left_right::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// Blocks of a row may overlap, because a pixel that has failed is not checked again.
template <class D>
HWY_INLINE void check_block(D d, float threshold, bool same, const float* right, int width, int x, float* disparity,
                            std::uint8_t* validity) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint8_t, D> d8;
  const auto value = hn::LoadU(d, disparity + x);
  const auto column = hn::ConvertTo(d, counted_from(di, x));
  const auto x_right = same ? column : hn::Sub(column, hn::Floor(hn::Add(value, hn::Set(d, 0.5f))));
  const auto inside = hn::And(hn::Ge(x_right, hn::Zero(d)), hn::Le(x_right, hn::Set(d, static_cast<float>(width - 1))));
  const auto other = hn::GatherIndex(d, right, hn::ConvertTo(di, hn::IfThenElseZero(inside, x_right)));
  const auto agrees = hn::And(inside, hn::Le(hn::Abs(hn::Sub(value, other)), hn::Set(d, threshold)));
  const auto failed = hn::AndNot(agrees, hn::Eq(value, value));
  hn::StoreU(hn::IfThenElse(failed, hn::Set(d, invalid_disparity), value), d, disparity + x);
  const auto bits = hn::IfThenElseZero(hn::RebindMask(du, failed), hn::Set(du, validity::left_right));
  const auto narrow = hn::DemoteTo(d8, hn::BitCast(di, bits));
  hn::StoreU(hn::Or(narrow, hn::LoadU(d8, validity + x)), d8, validity + x);
}

void check_rows(float threshold, bool same, ImageView<const float> right, ImageView<float> disparity,
                ImageView<std::uint8_t> validity, int first, int last) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  for (int y = first; y < last; ++y) {
    const auto check = [&](auto tag, int x) {
      check_block(tag, threshold, same, right.row(y), right.width, x, disparity.row(y), validity.row(y));
    };
    for_each_block(
        d, 0, disparity.width, [&](int x) { check(d, x); }, [&](int x) { check(one, x); });
  }
}

}  // namespace stereopsis::left_right::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::left_right {

HWY_EXPORT(check_rows);

void cpu(const Parameters& p, ImageView<const float> right, ImageView<float> disparity,
         ImageView<std::uint8_t> validity, Threads& threads) {
  check_sizes(right, disparity);
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(check_rows)
    (static_cast<float>(p.threshold), p.compare == Compare::same, right, disparity, validity, first, last);
  });
}

}  // namespace stereopsis::left_right
#endif
