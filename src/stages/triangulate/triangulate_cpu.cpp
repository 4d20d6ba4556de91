#include "stages/triangulate/triangulate.hpp"

#include "device/cpu/threads.hpp"
#include "stereopsis/disparity.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/triangulate/triangulate_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::triangulate::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

struct Rows {
  const float* disparity;
  const std::uint8_t* validity;         // if null, every valid disparity counts as measured
  const float* confidence;              // if null, the disparity error is constant
  float *depth, *points, *uncertainty;  // null if not requested
};

// Returns 1 / √(c / (1 − c)).
template <class D, class V>
HWY_INLINE V disparity_error(D d, V confidence) {
  const auto one = hn::Set(d, 1.0f);
  const auto c = hn::Min(hn::Max(confidence, hn::Set(d, least_confidence)), hn::Set(d, most_confidence));
  return hn::Div(one, hn::Sqrt(hn::Div(c, hn::Sub(one, c))));
}

template <class D>
HWY_INLINE void block(D d, const Constants& k, const Rows& rows, int x, float y) {
  const hn::RebindToSigned<D> di;
  const auto value = [d](float v) HWY_ATTR { return hn::Set(d, v); };
  const auto w = hn::Sub(hn::LoadU(d, rows.disparity + x), value(k.offset));
  auto valid = hn::And(hn::Ge(w, value(nearest_to_infinity)), hn::Le(w, value(largest_disparity)));
  if (rows.validity) {
    const auto reasons = hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::uint8_t, D>(), rows.validity + x));
    valid = hn::And(valid, hn::RebindMask(d, hn::Eq(reasons, hn::Zero(di))));
  }
  const auto z = hn::Div(value(k.depth_scale), hn::IfThenElse(valid, w, value(1.0f)));
  const auto shown = [&](auto v) HWY_ATTR { return hn::IfThenElse(valid, v, value(invalid_disparity)); };
  if (rows.depth) hn::StoreU(shown(z), d, rows.depth + x);
  if (rows.uncertainty) {
    auto error = hn::Mul(hn::Mul(z, z), value(k.error_scale));
    if (rows.confidence) error = hn::Mul(error, disparity_error(d, hn::LoadU(d, rows.confidence + x)));
    hn::StoreU(shown(error), d, rows.uncertainty + x);
  }
  if (!rows.points) return;
  const auto column = hn::Add(hn::Mul(value(k.step), hn::ConvertTo(d, counted_from(di, x))), value(k.first_x));
  const auto across = hn::Mul(hn::Mul(column, value(k.inverse_focal)), z);
  const auto down = hn::Mul(value((k.step * y + k.first_y) * k.inverse_focal), z);
  if (k.head)
    hn::StoreInterleaved3(shown(z), shown(hn::Sub(value(k.half_baseline), across)), shown(hn::Neg(down)), d,
                          rows.points + 3 * x);
  else
    hn::StoreInterleaved3(shown(across), shown(down), shown(z), d, rows.points + 3 * x);
}

void triangulate_rows(const Constants& k, const Input& in, const Output& out, int first, int last) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  for (int y = first; y < last; ++y) {
    const auto row = [y](const auto& image) { return image.empty() ? nullptr : image.row(y); };
    const Rows rows{in.disparity.row(y), row(in.validity), row(in.confidence),
                    row(out.depth),      row(out.points),  row(out.uncertainty)};
    const float at = static_cast<float>(y);
    for_each_block(
        d, 0, in.disparity.width, [&](int x) { block(d, k, rows, x, at); }, [&](int x) { block(one, k, rows, x, at); });
  }
}

}  // namespace stereopsis::triangulate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::triangulate {

HWY_EXPORT(triangulate_rows);

void cpu(const Parameters& p, const Input& in, const Output& out, Threads& threads) {
  check(p, in, out);
  const Constants k(p, !in.confidence.empty());
  threads.rows(in.disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(triangulate_rows)(k, in, out, first, last);
  });
}

}  // namespace stereopsis::triangulate
#endif
