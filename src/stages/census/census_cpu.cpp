#include "stages/census/census.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/census/census_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::census::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

inline constexpr int max_side = 11;
template <class T>
using Rows = std::array<const T*, max_side>;

// Joins pairs of planes of narrow digits, the lower plane first, to planes of digits of twice the width, until the
// digits are words. A plane holds `count` digits; `spare` is as large as `planes`.
template <class Word, class Digit>
HWY_INLINE void join_planes(const Digit* planes, int count, void* spare, Word* words) {
  using Wide = hwy::MakeWide<Digit>;
  const hn::ScalableTag<Wide> d;
  const hn::Rebind<Digit, decltype(d)> narrow;
  constexpr bool done = sizeof(Wide) == sizeof(Word);
  Wide* joined = done ? reinterpret_cast<Wide*>(words) : static_cast<Wide*>(spare);
  for (int plane = 0; plane < static_cast<int>(sizeof(Word) / sizeof(Wide)); ++plane) {
    const Digit* low = planes + 2 * plane * count;
    for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
      const auto high_digits = hn::PromoteTo(d, hn::LoadU(narrow, low + count + i));
      const auto low_digits = hn::PromoteTo(d, hn::LoadU(narrow, low + i));
      hn::StoreU(hn::Or(hn::ShiftLeft<8 * sizeof(Digit)>(high_digits), low_digits), d, joined + plane * count + i);
    }
  }
  if constexpr (!done) join_planes<Word>(joined, count, const_cast<Digit*>(planes), words);
}

// Computes words of 128 bits as two halves, from the planes [0, half) and [half, 2 half) of digits.
template <class Digit>
HWY_INLINE void join_planes(Digit* planes, int count, void* spare, Word128* words) {
  constexpr int half = 8 / sizeof(Digit);
  const hn::ScalableTag<std::uint64_t> d;
  HWY_ALIGN std::uint64_t low[hn::MaxLanes(hn::ScalableTag<Digit>())], high[hn::MaxLanes(hn::ScalableTag<Digit>())];
  join_planes<std::uint64_t>(planes, count, spare, low);
  join_planes<std::uint64_t>(planes + half * count, count, spare, high);
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d)))
    hn::StoreInterleaved2(hn::Load(d, low + i), hn::Load(d, high + i), d, &words[i].low);
}

// Computes the words of a block of Lanes(d) pixels. Comparisons use lanes as wide as pixels. Each lane collects one
// digit of the word, and the last comparisons give the lowest digit.
template <class T, class Word>
HWY_INLINE void census_block(const Rows<T>& rows, Shape shape, Word* words) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using Digit = hn::TFromD<decltype(du)>;
  constexpr int digit_bits = 8 * sizeof(Digit);
  constexpr int digits = sizeof(Word) / sizeof(Digit);
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN Digit storage[digits * hn::MaxLanes(d)];
  HWY_ALIGN Digit spare[digits * hn::MaxLanes(d)];
  Digit* planes = storage;
  if constexpr (digits == 1) planes = words;

  const auto centre = hn::LoadU(d, rows[shape.height / 2]);
  auto digit = hn::Zero(du);
  int position = shape.bits();
  for (int plane = (position + digit_bits - 1) / digit_bits; plane < digits; ++plane)
    hn::StoreU(hn::Zero(du), du, planes + plane * lanes);
  for (int dy = 0; dy < shape.height; ++dy)
    for (int dx = -(shape.width / 2); dx <= shape.width / 2; ++dx) {
      if (dx == 0 && dy == shape.height / 2) continue;
      const auto less = hn::RebindMask(du, hn::Lt(hn::LoadU(d, rows[dy] + dx), centre));
      digit = hn::Sub(hn::Add(digit, digit), hn::VecFromMask(du, less));  // a true mask equals −1
      if (--position % digit_bits != 0) continue;
      hn::StoreU(digit, du, planes + position / digit_bits * lanes);
      digit = hn::Zero(du);
    }
  if constexpr (std::is_same_v<Word, Word128>)
    join_planes(planes, lanes, spare, words);
  else if constexpr (digits > 1)
    join_planes<Word>(planes, lanes, spare, words);
}

template <class T, class Word>
void census_rows(ImageView<const T> grey, Shape shape, ImageView<Word> census, int first, int last) {
  const hn::ScalableTag<T> d;
  for (int y = first; y < last; ++y) {
    Rows<T> rows{};
    for (int i = 0; i < shape.height; ++i) rows[i] = grey.row(std::clamp(y + i - shape.height / 2, 0, grey.height - 1));
    for_each_window_block<max_side, max_side / 2>(
        d, rows, shape.height, shape.width / 2, grey.width, census.row(y),
        [&](const Rows<T>& block, int, Word* words) { census_block(block, shape, words); });
  }
}

template <class T>
using Grey = ImageView<const T>;
using Words32 = ImageView<std::uint32_t>;
using Words64 = ImageView<std::uint64_t>;
using Words128 = ImageView<Word128>;
void u8_to_32(Grey<std::uint8_t> g, Shape s, Words32 o, int a, int b) { census_rows(g, s, o, a, b); }
void u8_to_64(Grey<std::uint8_t> g, Shape s, Words64 o, int a, int b) { census_rows(g, s, o, a, b); }
void u16_to_32(Grey<std::uint16_t> g, Shape s, Words32 o, int a, int b) { census_rows(g, s, o, a, b); }
void u16_to_64(Grey<std::uint16_t> g, Shape s, Words64 o, int a, int b) { census_rows(g, s, o, a, b); }
void f32_to_32(Grey<float> g, Shape s, Words32 o, int a, int b) { census_rows(g, s, o, a, b); }
void f32_to_64(Grey<float> g, Shape s, Words64 o, int a, int b) { census_rows(g, s, o, a, b); }
void u8_to_128(Grey<std::uint8_t> g, Shape s, Words128 o, int a, int b) { census_rows(g, s, o, a, b); }
void u16_to_128(Grey<std::uint16_t> g, Shape s, Words128 o, int a, int b) { census_rows(g, s, o, a, b); }
void f32_to_128(Grey<float> g, Shape s, Words128 o, int a, int b) { census_rows(g, s, o, a, b); }

}  // namespace stereopsis::census::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::census {

HWY_EXPORT(u8_to_32);
HWY_EXPORT(u8_to_64);
HWY_EXPORT(u16_to_32);
HWY_EXPORT(u16_to_64);
HWY_EXPORT(f32_to_32);
HWY_EXPORT(f32_to_64);
HWY_EXPORT(u8_to_128);
HWY_EXPORT(u16_to_128);
HWY_EXPORT(f32_to_128);

template <class T, class Word>
void cpu(const Parameters& p, ImageView<const T> grey, ImageView<Word> census, Threads& threads) {
  check_word<Word>(p);
  const Shape shape = shape_of(p.window);
  threads.rows(grey.height, [&](int first, int last) {
    const auto call = [&](auto words32, auto words64, auto words128) {
      if constexpr (sizeof(Word) == 4)
        words32(grey, shape, census, first, last);
      else if constexpr (sizeof(Word) == 8)
        words64(grey, shape, census, first, last);
      else
        words128(grey, shape, census, first, last);
    };
    if constexpr (std::is_same_v<T, std::uint8_t>)
      call(HWY_DYNAMIC_DISPATCH(u8_to_32), HWY_DYNAMIC_DISPATCH(u8_to_64), HWY_DYNAMIC_DISPATCH(u8_to_128));
    if constexpr (std::is_same_v<T, std::uint16_t>)
      call(HWY_DYNAMIC_DISPATCH(u16_to_32), HWY_DYNAMIC_DISPATCH(u16_to_64), HWY_DYNAMIC_DISPATCH(u16_to_128));
    if constexpr (std::is_same_v<T, float>)
      call(HWY_DYNAMIC_DISPATCH(f32_to_32), HWY_DYNAMIC_DISPATCH(f32_to_64), HWY_DYNAMIC_DISPATCH(f32_to_128));
  });
}

template void cpu(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint32_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint32_t>, Threads&);
template void cpu(const Parameters&, ImageView<const float>, ImageView<std::uint32_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint8_t>, ImageView<std::uint64_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint16_t>, ImageView<std::uint64_t>, Threads&);
template void cpu(const Parameters&, ImageView<const float>, ImageView<std::uint64_t>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint8_t>, ImageView<Word128>, Threads&);
template void cpu(const Parameters&, ImageView<const std::uint16_t>, ImageView<Word128>, Threads&);
template void cpu(const Parameters&, ImageView<const float>, ImageView<Word128>, Threads&);

}  // namespace stereopsis::census
#endif
