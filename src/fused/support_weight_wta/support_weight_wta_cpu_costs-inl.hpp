// Rows of costs, and the vector types of all aggregations. The file is included once for each SIMD target, hence the
// unusual include guard.
#if defined(STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_COSTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_COSTS_INL
#undef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_COSTS_INL
#else
#define STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_COSTS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/lanes-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_job.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::RepartitionToWide<D16>;
using I32 = hn::RebindToSigned<D32>;
using I16 = hn::RebindToSigned<D16>;
using F32 = hn::Rebind<float, D32>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

HWY_INLINE int lanes16() { return static_cast<int>(hn::Lanes(D16())); }

// Narrows 32-bit lanes whose values fit in 16 bits, and joins them in one vector.
HWY_INLINE V16 narrowed(V32 lower, V32 upper) {
  const D16 d;
  const hn::Half<D16> half;
  const I32 i32;
  return hn::Combine(d, hn::DemoteTo(half, hn::BitCast(i32, upper)), hn::DemoteTo(half, hn::BitCast(i32, lower)));
}
HWY_INLINE V16 narrowed_load(const std::uint32_t* words, int shift) {
  const D32 d;
  const auto field = [&](const std::uint32_t* p)
                         HWY_ATTR { return hn::And(hn::ShiftRightSame(hn::LoadU(d, p), shift), hn::Set(d, 255)); };
  return narrowed(field(words), field(words + hn::Lanes(d)));
}

HWY_INLINE V32 difference(V32 left, V32 right) {
  const D32 d;
  const hn::Repartition<std::uint8_t, D32> d8;
  const auto a = hn::BitCast(d8, left), b = hn::BitCast(d8, right);
  const auto bytes = hn::BitCast(d, hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)));
  const auto byte = hn::Set(d, 255);
  return hn::Add(hn::Add(hn::And(bytes, byte), hn::And(hn::ShiftRight<8>(bytes), byte)), hn::ShiftRight<16>(bytes));
}

// Computes the costs of row y at disparity k of the range, shifted by `shift`. `right` is the padded row that
// load_right made for `count` disparities from `first` on.
inline void make_costs(const Job& job, const std::uint32_t* right, int y, int first, int count, int k, int shift,
                       std::uint16_t* out) {
  const D32 d;
  const D16 d16;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto limit = hn::Set(d16, static_cast<std::uint16_t>(job.parameters.cost.truncation));
  const std::uint32_t* left = job.in.rgb_left.row(y);
  const std::uint32_t* candidates = right + (first + count - 1 - k);
  const auto block = [&](int x) HWY_ATTR { return difference(hn::LoadU(d, left + x), hn::LoadU(d, candidates + x)); };
  int x = 0;
  for (; x + 2 * lanes <= job.width; x += 2 * lanes)
    hn::StoreU(hn::ShiftLeftSame(hn::Min(narrowed(block(x), block(x + lanes)), limit), shift), d16, out + x);
  for (; x < job.width; ++x)
    out[x] = static_cast<std::uint16_t>(colour_difference::cost(job.parameters.cost, left[x], candidates[x]) << shift);
}

// Loads the right pixels of row y, starting with the pixel of column 0 at the largest disparity.
inline void load_right(const Job& job, int y, int first, int count, std::uint32_t* right) {
  const int most = job.in.select.min_disparity + first + count - 1;
  copy_replicated(job.in.rgb_right.row(y), job.width, -most, job.width + count - 1, right);
}

inline void pad(std::uint16_t* row, int width, int before, int behind) {
  std::fill_n(row - before, before, row[0]);
  std::fill_n(row + width, behind, row[width - 1]);
}

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
