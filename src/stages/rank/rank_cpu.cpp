#include "stages/rank/rank.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/rank/rank_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::rank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

// One pixel near the left or right border, where the window has to be clamped.
template <class T>
std::uint8_t border_rank(ImageView<const T> grey, int radius, int x, int y) {
  int rank = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) rank += grey.clamped(x + dx, y + dy) < grey(x, y);
  return static_cast<std::uint8_t>(rank);
}

template <class T>
void rank_row(ImageView<const T> grey, int radius, int y, std::uint8_t* ranks) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto one = hn::Set(du, 1);
  const T* centre = grey.row(y);
  for_each_block(
      d, radius, grey.width - radius,
      [&](int x) {
        const auto value = hn::LoadU(d, centre + x);
        auto count = hn::Zero(du);
        for (int dy = -radius; dy <= radius; ++dy) {
          const T* row = grey.row(std::clamp(y + dy, 0, grey.height - 1)) + x;
          for (int dx = -radius; dx <= radius; ++dx) {
            const auto less = hn::Lt(hn::LoadU(d, row + dx), value);
            count = hn::Add(count, hn::IfThenElseZero(hn::RebindMask(du, less), one));
          }
        }
        store_narrowed(du, count, ranks + x);
      },
      [&](int x) { ranks[x] = border_rank(grey, radius, x, y); });
}

template <class T>
void rank_rows(ImageView<const T> grey, int radius, ImageView<std::uint8_t> ranks, int first, int last) {
  for (int y = first; y < last; ++y) rank_row(grey, radius, y, ranks.row(y));
}

void rank_rows_u8(ImageView<const std::uint8_t> g, int r, ImageView<std::uint8_t> o, int a, int b) {
  rank_rows(g, r, o, a, b);
}
void rank_rows_u16(ImageView<const std::uint16_t> g, int r, ImageView<std::uint8_t> o, int a, int b) {
  rank_rows(g, r, o, a, b);
}
void rank_rows_f32(ImageView<const float> g, int r, ImageView<std::uint8_t> o, int a, int b) {
  rank_rows(g, r, o, a, b);
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
  const int radius = p.window / 2;
  threads.rows(grey.height, [&](int first, int last) {
    if constexpr (std::is_same_v<T, std::uint8_t>) HWY_DYNAMIC_DISPATCH(rank_rows_u8)(grey, radius, ranks, first, last);
    if constexpr (std::is_same_v<T, std::uint16_t>)
      HWY_DYNAMIC_DISPATCH(rank_rows_u16)(grey, radius, ranks, first, last);
    if constexpr (std::is_same_v<T, float>) HWY_DYNAMIC_DISPATCH(rank_rows_f32)(grey, radius, ranks, first, last);
  });
}

template void cpu(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, ImageView<const float>, ImageView<std::uint8_t>, Threads&);

}  // namespace stereopsis::rank
#endif
