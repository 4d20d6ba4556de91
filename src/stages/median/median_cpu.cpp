#include "stages/median/median.hpp"

#include "device/cpu/threads.hpp"
#include "stereopsis/disparity.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/median/median_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::median::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// Invalid pixels are read as −∞ and +∞ in turn, so that the middle of all values is the lower middle of the valid
// values.
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

// The columns of five rows of valid pixels. Each column is sorted, and neighbouring windows share four of their five
// columns.
template <class D>
class SortedColumns {
  using V = hn::VFromD<D>;

 public:
  static constexpr int columns = 128;  // number of columns of windows, without the two additional columns on each side
  using Rows = std::array<const float*, 5>;

  // Loads the columns from `first` on. Returns false if a pixel is invalid. Borders replicate.
  bool load(const Rows& rows, int width, int first, int count) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    auto valid = hn::Eq(hn::Zero(d), hn::Zero(d));
    for (int i = 0; i < count + 4; i += lanes) {
      const int x = first - 2 + i;
      const bool inside = x >= 0 && x + lanes <= width;
      V v[5];
      for (int k = 0; k < 5; ++k) {
        HWY_ALIGN float copy[hn::MaxLanes(D())];
        if (!inside) copy_replicated(rows[k], width, x, lanes, copy);
        v[k] = hn::LoadU(d, inside ? rows[k] + x : copy);
        valid = hn::And(valid, hn::Eq(v[k], v[k]));
        v[k] = hn::Add(v[k], hn::Zero(d));  // −0 + 0 = +0
      }
      sort_lanes<5>(v);
      for (int k = 0; k < 5; ++k) hn::StoreU(v[k], d, ranks_[k] + i);
    }
    return hn::AllTrue(d, valid);
  }

  // Returns the medians of the windows around the columns from `first` + i on. When the values of each rank are also
  // sorted across the columns, only ranks near a diagonal can be the median of the 25 values. Next to the diagonal,
  // only the largest of the lower values and the lowest of the larger values can be the median. All other values have
  // at least 13 values on one side.
  V median(int i) const {
    V v[5][5];
    for (int k = 0; k < 5; ++k)
      for (int column = 0; column < 5; ++column) v[k][column] = hn::LoadU(D(), ranks_[k] + i + column);
    two_largest(v[0]);
    for (int k = 1; k < 4; ++k) sort_lanes<5>(v[k]);
    two_lowest(v[4]);
    V middle[7] = {
        hn::Max(hn::Max(v[0][3], v[1][2]), hn::Max(v[2][1], v[3][0])), v[0][4], v[1][3], v[2][2], v[3][1], v[4][0],
        hn::Min(hn::Min(v[1][4], v[2][3]), hn::Min(v[3][2], v[4][1]))};
    sort_lanes<7>(middle);
    return middle[3];
  }

 private:
  // Moves the second largest and the largest value to v[3] and v[4], as sorting would.
  static HWY_INLINE void two_largest(V (&v)[5]) {
    const V a = hn::Max(v[0], v[1]), b = hn::Max(v[2], v[3]);
    const V c = hn::Max(hn::Min(v[0], v[1]), hn::Min(v[2], v[3]));
    const V largest = hn::Max(a, b), second = hn::Max(hn::Min(a, b), c);
    v[3] = hn::Max(second, hn::Min(largest, v[4]));
    v[4] = hn::Max(largest, v[4]);
  }
  // Moves the lowest and the second lowest value to v[0] and v[1].
  static HWY_INLINE void two_lowest(V (&v)[5]) {
    const V a = hn::Min(v[0], v[1]), b = hn::Min(v[2], v[3]);
    const V c = hn::Min(hn::Max(v[0], v[1]), hn::Max(v[2], v[3]));
    const V lowest = hn::Min(a, b), second = hn::Min(hn::Max(a, b), c);
    v[1] = hn::Min(second, hn::Max(lowest, v[4]));
    v[0] = hn::Min(lowest, v[4]);
  }

  HWY_ALIGN float ranks_[5][columns + 4 + hn::MaxLanes(D())];
};

// Computes a row of the 5×5 median. Returns false, and leaves the output undefined, if a pixel of a window is invalid.
bool median_of_valid(const std::array<const float*, 5>& rows, int width, float* out) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  SortedColumns<hn::ScalableTag<float>> columns;
  for (int first = 0; first < width; first += columns.columns) {
    const int count = std::min(columns.columns, width - first);
    if (!columns.load(rows, width, first, count)) return false;
    for (int i = 0; i < count; i += lanes) {
      HWY_ALIGN float medians[hn::MaxLanes(d)];
      const bool whole = i + lanes <= count;
      hn::StoreU(columns.median(i), d, whole ? out + first + i : medians);
      if (!whole) std::copy_n(medians, count - i, out + first + i);
    }
  }
  return true;
}

template <int window>
void median_window(ImageView<const float> disparity, ImageView<float> filtered, int first, int last) {
  const hn::ScalableTag<float> d;
  for (int y = first; y < last; ++y) {
    std::array<const float*, window> rows;
    for (int i = 0; i < window; ++i) rows[i] = disparity.row(std::clamp(y + i - window / 2, 0, disparity.height - 1));
    if constexpr (window == 5)
      if (median_of_valid(rows, disparity.width, filtered.row(y))) continue;
    for_each_window_block<window, window / 2>(
        d, rows, window, window / 2, disparity.width, filtered.row(y),
        [&](const auto& block, int, float* out) { hn::StoreU(median_block<window>(d, block), d, out); });
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
