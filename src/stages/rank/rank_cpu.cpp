#include "stages/rank/rank.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/rank/rank_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::rank::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// Returns v + 1 in the lanes of the mask, and v in the other lanes.
template <class D, class V, class M>
HWY_INLINE V count_where(D d, V v, M mask) {
#if HWY_TARGET <= HWY_AVX3
  // This subtraction is one instruction. If a saturating addition exists, it does not compete with comparisons for a
  // port of the processor.
  const auto one = hn::Set(d, 1);
  if constexpr (sizeof(hn::TFromD<D>) <= 2) return hn::IfThenElse(mask, hn::SaturatedAdd(v, one), v);
  return hn::IfThenElse(mask, hn::Add(v, one), v);
#else
  return hn::Sub(v, hn::VecFromMask(d, mask));
#endif
}

// Most loads cross cache lines and take longer than comparisons, so several rows share each load.
constexpr int max_window = 15, rows_at_once = 4, max_rows = max_window + rows_at_once - 1;
template <class T>
using Rows = std::array<const T*, max_rows>;

// Counts the pixels in one row of the windows that are darker than the centre, for the centres [kFirst, kLast).
template <int kFirst, int kLast, class T, class Centre, class Count>
HWY_INLINE void count_in_row(const T* row, int radius, const Centre* centre, Count* count) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  for (int dx = -radius; dx <= radius; ++dx) {
    const auto other = hn::LoadU(d, row + dx);
    for (int i = kFirst; i < kLast; ++i)
      count[i] = count_where(du, count[i], hn::RebindMask(du, hn::Lt(other, centre[i])));
  }
}

// Computes the ranks of blocks of Lanes(d) pixels in kRows consecutive rows. kWindow is the window as a compile-time
// constant, for which the short loops are unrolled, or 0 for any window.
template <int kRows, int kWindow, class T>
HWY_INLINE void rank_blocks(const Rows<T>& rows, int any_window, std::uint8_t* ranks, std::ptrdiff_t pitch) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const int window = kWindow > 0 ? kWindow : any_window, radius = window / 2;
  hn::VFromD<decltype(d)> centre[kRows];
  hn::VFromD<decltype(du)> count[kRows];
  for (int i = 0; i < kRows; ++i) {
    centre[i] = hn::LoadU(d, rows[radius + i]);
    count[i] = hn::Zero(du);
  }
  // The first and the last rows are in the windows of only some centres. A window has at least kRows - 1 rows.
  [&]<int... i>(std::integer_sequence<int, i...>) HWY_ATTR {
    (count_in_row<0, i + 1>(rows[i], radius, centre, count), ...);
    for (int row = kRows - 1; row < window; ++row) count_in_row<0, kRows>(rows[row], radius, centre, count);
    (count_in_row<i + 1, kRows>(rows[window + i], radius, centre, count), ...);
  }
  (std::make_integer_sequence<int, kRows - 1>());
  for (int i = 0; i < kRows; ++i) store_narrowed(du, count[i], ranks + i * pitch);
}

template <int kRows, int kWindow, class T>
void rank_rows(ImageView<const T> grey, int window, ImageView<std::uint8_t> ranks, int y) {
  const hn::ScalableTag<T> d;
  const int radius = window / 2, count = window + kRows - 1;
  Rows<T> rows{};
  for (int i = 0; i < count; ++i) rows[i] = grey.row(std::clamp(y + i - radius, 0, grey.height - 1));
  for_each_window_block<max_rows, max_window / 2>(d, rows, count, radius, grey.width, ranks.row(y),
                                                  [&](const Rows<T>& block, int, std::uint8_t* out) HWY_ATTR {
                                                    rank_blocks<kRows, kWindow>(block, window, out, ranks.pitch);
                                                  });
}

template <int kWindow, class T>
void rank_rows(ImageView<const T> grey, int window, ImageView<std::uint8_t> ranks, int first, int last) {
  // If rows are narrower than a block, the output has no space for results after them.
  const bool together = grey.width >= static_cast<int>(hn::Lanes(hn::ScalableTag<T>())) && window >= rows_at_once - 1;
  int y = first;
  for (; together && y + rows_at_once <= last; y += rows_at_once)
    rank_rows<rows_at_once, kWindow>(grey, window, ranks, y);
  for (; y < last; ++y) rank_rows<1, kWindow>(grey, window, ranks, y);
}

// There is a specialised version for the window of Banz et al., which is common, and a version for any window.
template <class T>
void rank_rows(ImageView<const T> grey, int window, ImageView<std::uint8_t> ranks, int first, int last) {
  if (window == 9)
    rank_rows<9>(grey, window, ranks, first, last);
  else
    rank_rows<0>(grey, window, ranks, first, last);
}

void rank_rows_u8(ImageView<const std::uint8_t> g, int w, ImageView<std::uint8_t> o, int a, int b) {
  rank_rows(g, w, o, a, b);
}
void rank_rows_u16(ImageView<const std::uint16_t> g, int w, ImageView<std::uint8_t> o, int a, int b) {
  rank_rows(g, w, o, a, b);
}
void rank_rows_f32(ImageView<const float> g, int w, ImageView<std::uint8_t> o, int a, int b) {
  rank_rows(g, w, o, a, b);
}

}  // namespace stereopsis::rank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::rank {

HWY_EXPORT(rank_rows_u8);
HWY_EXPORT(rank_rows_u16);
HWY_EXPORT(rank_rows_f32);

template <class T>
void cpu(const Parameters& p, ImageView<const T> grey, ImageView<std::uint8_t> ranks, Threads& threads) {
  // A part of the image is a whole number of groups of rows, because single rows are slower.
  constexpr int group = HWY_NAMESPACE::rows_at_once;
  const auto rank_groups = [&](int first, int last) {
    const auto call = [&](auto rows) {
      rows(grey, p.window, ranks, first * group, std::min(last * group, grey.height));
    };
    if constexpr (std::is_same_v<T, std::uint8_t>) call(HWY_DYNAMIC_DISPATCH(rank_rows_u8));
    if constexpr (std::is_same_v<T, std::uint16_t>) call(HWY_DYNAMIC_DISPATCH(rank_rows_u16));
    if constexpr (std::is_same_v<T, float>) call(HWY_DYNAMIC_DISPATCH(rank_rows_f32));
  };
  threads.rows((grey.height + group - 1) / group, rank_groups, 8 / group);
}

template void cpu(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const float>, ImageView<std::uint8_t>, Threads&);

}  // namespace stereopsis::rank
#endif
