#include "stages/census_gradient/census_gradient.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/census_gradient/census_gradient_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::census_gradient::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

constexpr int radius = 2;

// One byte per comparison: all ones where the neighbour is darker.
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

// Pixels side by side; the rows around them and the 8-bit one point at the first.
template <class D8, class T>
HWY_INLINE void words_of_block(D8 d8, const T* const (&rows)[5], const std::uint8_t* row8, std::uint32_t* words) {
  hn::VFromD<D8> planes[3] = {hn::Zero(d8), hn::Zero(d8), hn::Zero(d8)};
  int bit = 0;
  for (int i = 0; i < 25; ++i) {
    if (i == 12) continue;
    const auto flag = darker(d8, rows[i / 5] + i % 5 - radius, rows[radius]);
    auto& plane = planes[bit / 8];
    plane = hn::Or(plane, hn::And(flag, hn::Set(d8, static_cast<std::uint8_t>(1u << bit % 8))));
    ++bit;
  }
  const auto left = hn::LoadU(d8, row8 - 1), right = hn::LoadU(d8, row8 + 1);
  // 128 + right − left, saturated: one of the two differences is 0.
  const auto half = hn::Set(d8, 128);
  const auto gradient =
      hn::SaturatedSub(hn::SaturatedAdd(half, hn::SaturatedSub(right, left)), hn::SaturatedSub(left, right));
  hn::StoreInterleaved4(planes[0], planes[1], planes[2], gradient, d8, reinterpret_cast<std::uint8_t*>(words));
}

template <class T>
void words_of_row(ImageView<const T> grey, ImageView<const std::uint8_t> grey8, int y, std::uint32_t* words) {
  const hn::ScalableTag<T> widest;  // as many bytes as there are lanes of T
  const hn::Rebind<std::uint8_t, decltype(widest)> d8;
  constexpr int max_lanes = static_cast<int>(hn::MaxLanes(widest));
  const int lanes = static_cast<int>(hn::Lanes(d8)), width = grey.width;
  const T* rows[5];
  for (int i = 0; i < 5; ++i) rows[i] = grey.row(std::clamp(y + i - radius, 0, grey.height - 1));
  for (int x = 0; x < width; x += lanes) {
    const T* block[5];
    if (x >= radius && x + lanes + radius <= width) {
      for (int i = 0; i < 5; ++i) block[i] = rows[i] + x;
      words_of_block(d8, block, grey8.row(y) + x, words + x);
      continue;
    }
    T copies[5][max_lanes + 2 * radius];
    std::uint8_t copy8[max_lanes + 2];
    std::uint32_t results[max_lanes];
    for (int i = 0; i < 5; ++i) {
      copy_replicated(rows[i], width, x - radius, lanes + 2 * radius, copies[i]);
      block[i] = copies[i] + radius;
    }
    copy_replicated(grey8.row(y), width, x - 1, lanes + 2, copy8);
    words_of_block(d8, block, copy8 + 1, results);
    std::copy_n(results, std::min(lanes, width - x), words + x);
  }
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
