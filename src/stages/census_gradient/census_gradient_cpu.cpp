#include "stages/census_gradient/census_gradient.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/census_gradient/census_gradient_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::census_gradient::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

constexpr int window = 5, radius = 2;
template <class T>
using Rows = std::array<const T*, window>;

// Returns one byte per comparison, with all bits set if the neighbour is darker.
template <class D8, class T>
HWY_INLINE hn::VFromD<D8> darker(D8 d8, const T* neighbour, const T* centre) {
  if constexpr (sizeof(T) == 1) {
    return hn::VecFromMask(d8, hn::Lt(hn::LoadU(d8, neighbour), hn::LoadU(d8, centre)));
  } else {
    const hn::Rebind<T, D8> d;
    const hn::RebindToSigned<decltype(d)> di;
    const auto less = hn::RebindMask(di, hn::Lt(hn::LoadU(d, neighbour), hn::LoadU(d, centre)));
    return hn::DemoteTo(d8, hn::IfThenElseZero(less, hn::Set(di, 255)));
  }
}

// Returns the position of a bit's neighbour in the window, in reading order without the centre.
constexpr int place_of_bit(int bit) { return bit < 12 ? bit : bit + 1; }

// Computes the comparisons of eight bits. In a byte, a true comparison is −1. The highest bit comes first, and each
// further comparison doubles the value.
template <class D8, class T>
HWY_INLINE hn::VFromD<D8> comparisons(D8 d8, const Rows<T>& rows, int first_bit) {
  auto plane = hn::Zero(d8);
  for (int bit = first_bit + 7; bit >= first_bit; --bit) {
    const int place = place_of_bit(bit);
    const auto flag = darker(d8, rows[place / 5] + place % 5 - radius, rows[radius]);
    plane = hn::Sub(hn::Add(plane, plane), flag);
  }
  return plane;
}

// Computes the words of adjacent pixels. The pointers to the surrounding rows and to the 8-bit row point to the first
// pixel.
template <class D8, class T>
HWY_INLINE void words_of_block(D8 d8, const Rows<T>& rows, const std::uint8_t* row8, std::uint32_t* words) {
  const auto left = hn::LoadU(d8, row8 - 1), right = hn::LoadU(d8, row8 + 1);
  // Computes 128 + right − left with saturation, where one of the two differences is 0.
  const auto half = hn::Set(d8, 128);
  const auto gradient =
      hn::SaturatedSub(hn::SaturatedAdd(half, hn::SaturatedSub(right, left)), hn::SaturatedSub(left, right));
  hn::StoreInterleaved4(comparisons(d8, rows, 0), comparisons(d8, rows, 8), comparisons(d8, rows, 16), gradient, d8,
                        reinterpret_cast<std::uint8_t*>(words));
}

template <class T>
void words_of_row(ImageView<const T> grey, ImageView<const std::uint8_t> grey8, int y, std::uint32_t* words) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;  // as many bytes as T has lanes
  const int lanes = static_cast<int>(hn::Lanes(d8)), width = grey.width;
  const std::uint8_t* row8 = grey8.row(y);
  Rows<T> rows;
  for (int i = 0; i < window; ++i) rows[i] = grey.row(std::clamp(y + i - radius, 0, grey.height - 1));
  const auto words_at = [&](const Rows<T>& block, int x, std::uint32_t* out) {
    if (x > 0 && x + lanes < width) return words_of_block(d8, block, row8 + x, out);
    std::uint8_t copy[hn::MaxLanes(d8) + 2];
    copy_block_replicated(d8, row8, width, x, 1, copy);
    words_of_block(d8, block, copy + 1, out);
  };
  for_each_window_block<window, radius>(d, rows, window, radius, width, words, words_at);
}

template <class T>
void words_of_rows(ImageView<const T> grey, ImageView<const std::uint8_t> grey8, ImageView<std::uint32_t> words,
                   int first, int last) {
  for (int y = first; y < last; ++y) words_of_row(grey, grey8, y, words.row(y));
}

using Grey8 = ImageView<const std::uint8_t>;
using Words = ImageView<std::uint32_t>;
void rows_u8(ImageView<const std::uint8_t> g, Grey8 g8, Words w, int a, int b) { words_of_rows(g, g8, w, a, b); }
void rows_u16(ImageView<const std::uint16_t> g, Grey8 g8, Words w, int a, int b) { words_of_rows(g, g8, w, a, b); }
void rows_f32(ImageView<const float> g, Grey8 g8, Words w, int a, int b) { words_of_rows(g, g8, w, a, b); }

}  // namespace stereopsis::census_gradient::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::census_gradient {

HWY_EXPORT(rows_u8);
HWY_EXPORT(rows_u16);
HWY_EXPORT(rows_f32);

template <class T>
void cpu(ImageView<const T> grey, ImageView<const std::uint8_t> grey8, ImageView<std::uint32_t> words,
         Threads& threads) {
  threads.rows(grey.height, [&](int first, int last) {
    if constexpr (std::is_same_v<T, std::uint8_t>) HWY_DYNAMIC_DISPATCH(rows_u8)(grey, grey8, words, first, last);
    if constexpr (std::is_same_v<T, std::uint16_t>) HWY_DYNAMIC_DISPATCH(rows_u16)(grey, grey8, words, first, last);
    if constexpr (std::is_same_v<T, float>) HWY_DYNAMIC_DISPATCH(rows_f32)(grey, grey8, words, first, last);
  });
}

template void cpu(ImageView<const std::uint8_t>, ImageView<const std::uint8_t>, ImageView<std::uint32_t>, Threads&);
template void cpu(ImageView<const std::uint16_t>, ImageView<const std::uint8_t>, ImageView<std::uint32_t>, Threads&);
template void cpu(ImageView<const float>, ImageView<const std::uint8_t>, ImageView<std::uint32_t>, Threads&);

}  // namespace stereopsis::census_gradient
#endif
