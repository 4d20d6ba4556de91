// Finds the agreement of dense seeds with their neighbours: dense.hpp. The file is included once for each SIMD target, hence
// the unusual include guard.
#if defined(STEREOPSIS_DENSE_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_DENSE_CPU_INL
#undef STEREOPSIS_DENSE_CPU_INL
#else
#define STEREOPSIS_DENSE_CPU_INL
#endif

#include <algorithm>
#include <cstdlib>

#include "device/cpu/highway-inl.hpp"
#include "stages/prior/dense.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::prior::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

Agreement agreement_of(const Parameters& p, const DenseRow& here, std::span<const DenseRow> rows, int reach, int width,
                       int x) {
  Agreement of;
  for (const DenseRow& row : rows)
    for (int u = std::max(0, x - reach); u <= std::min(width - 1, x + reach); ++u) {
      if (row.values[u] < 0 || std::abs(row.grey[u] - here.grey[x]) > p.similar) continue;
      const int e = row.values[u] - here.values[x];
      ++of.neighbours;
      if (std::abs(e) > 16 * p.tolerance) continue;
      ++of.agree;
      of.e += e;
    }
  return of;
}

// Finds the agreement of all pixels of a row of `width` pixels with the pixels of `rows` at a distance of at most `reach`
// columns. `here` is one of the rows: each pixel first counts itself, which adds nothing to the sum.
void agree_row(const Parameters& p, const DenseRow& here, std::span<const DenseRow> rows, int reach, int width,
               Agreement* agreement) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto unlike = hn::Set(d, p.similar + 1), too_far = hn::Set(d, 16 * p.tolerance + 1),
             none_there = hn::Set(d, none), zero = hn::Zero(d);
  HWY_ALIGN std::int32_t of[3][HWY_MAX_BYTES / sizeof(std::int32_t)];
  int x = 0;
  for (; x < std::min(reach, width); ++x) agreement[x] = agreement_of(p, here, rows, reach, width, x);
  for (; x + lanes + reach <= width; x += lanes) {
    const auto value = hn::LoadU(d, here.values + x), grey = hn::PromoteTo(d, hn::LoadU(d8, here.grey + x));
    auto neighbours = zero, agree = zero, sum = zero;
    for (const DenseRow& row : rows)
      for (int u = x - reach; u <= x + reach; ++u) {
        const auto there = hn::LoadU(d, row.values + u);
        const auto contrast = hn::Abs(hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, row.grey + u)), grey));
        const auto is_neighbour = hn::And(hn::Gt(there, none_there), hn::Lt(contrast, unlike));
        const auto e = hn::Sub(there, value);
        const auto agrees = hn::And(is_neighbour, hn::Lt(hn::Abs(e), too_far));
        neighbours = hn::Sub(neighbours, hn::VecFromMask(d, is_neighbour));
        agree = hn::Sub(agree, hn::VecFromMask(d, agrees));
        sum = hn::Add(sum, hn::IfThenElseZero(agrees, e));
      }
    hn::Store(neighbours, d, of[0]);
    hn::Store(agree, d, of[1]);
    hn::Store(sum, d, of[2]);
    for (int k = 0; k < lanes; ++k) agreement[x + k] = {of[0][k], of[1][k], of[2][k]};
  }
  for (; x < width; ++x) agreement[x] = agreement_of(p, here, rows, reach, width, x);
  for (x = 0; x < width; ++x) --agreement[x].neighbours, --agreement[x].agree;
}

}  // namespace stereopsis::prior::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
