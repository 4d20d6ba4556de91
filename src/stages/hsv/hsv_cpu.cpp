#include <cmath>

#include "device/cpu/threads.hpp"
#include "stages/hsv/hsv.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/hsv/hsv_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::hsv::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

using I = hn::ScalableTag<std::int32_t>;
using V = hn::Vec<I>;

HWY_INLINE V set(int v) { return hn::Set(I(), v); }

// Returns ⌊a / b⌋ for 0 ≤ a < 2²⁴. The correctly rounded quotient of floats never reaches the next integer.
HWY_INLINE V quotient(V a, V b) {
  const hn::RebindToFloat<I> f;
  return hn::ConvertTo(I(), hn::Div(hn::ConvertTo(f, a), hn::ConvertTo(f, b)));
}

HWY_INLINE V scaled(int scale, V value) { return hn::ShiftRight<8>(hn::Add(hn::Mul(value, set(scale)), set(128))); }

HWY_INLINE V on_diamond(int scale, V turn, V chroma) {
  const V chroma12 = hn::Mul(chroma, set(12)), chroma24 = hn::Add(chroma12, chroma12);
  const V distance = hn::Min(turn, hn::Sub(chroma12, turn));
  const V numerator = hn::Mul(hn::Sub(hn::Mul(chroma, set(6)), distance), set(scale));
  return quotient(hn::Add(numerator, chroma12), chroma24);
}

HWY_INLINE V pack(V a, V b, V c, V d) {
  return hn::Or(hn::Or(a, hn::ShiftLeft<8>(b)), hn::Or(hn::ShiftLeft<16>(c), hn::ShiftLeft<24>(d)));
}

HWY_INLINE V hsv_words(const std::array<int, 3>& scales, V red, V green, V blue) {
  const V value = hn::Max(red, hn::Max(green, blue));
  const V chroma = hn::Sub(value, hn::Min(red, hn::Min(green, blue)));
  const V unit = hn::Max(chroma, set(1)), turn = hn::Mul(unit, set(12));
  const V from_red = hn::Sub(green, blue);
  V sixth = hn::IfThenElse(hn::Eq(value, green), hn::Add(hn::Sub(blue, red), hn::Add(chroma, chroma)),
                           hn::Add(hn::Sub(red, green), hn::ShiftLeft<2>(chroma)));
  sixth = hn::IfThenElse(hn::Eq(value, red), from_red, sixth);
  V hue = hn::Add(sixth, sixth);
  hue = hn::Add(hue, hn::IfThenElseZero(hn::Lt(hue, set(0)), turn));
  V back = hn::Sub(hue, hn::Mul(unit, set(3)));
  back = hn::Add(back, hn::IfThenElseZero(hn::Lt(back, set(0)), turn));
  const V saturation = quotient(hn::Add(hn::Mul(chroma, set(255 * scales[1])), hn::ShiftLeft<7>(value)),
                                hn::ShiftLeft<8>(hn::Max(value, set(1))));
  return pack(on_diamond(scales[0], hue, unit), on_diamond(scales[0], back, unit), saturation,
              scaled(scales[2], value));
}

HWY_INLINE V words_of(const Weighting& w, V red, V green, V blue) {
  if (w.space == Space::hsv) return hsv_words(w.scales, red, green, blue);
  return pack(scaled(w.scales[0], red), scaled(w.scales[1], green), scaled(w.scales[2], blue), set(0));
}

// Stores as many words as a vector has lanes. The function may read `rgb` beyond `count` pixels, up to a whole vector.
HWY_INLINE void store_words(const Weighting& w, const std::uint8_t* rgb, int count, std::uint32_t* words) {
  const I i;
  const hn::Rebind<std::uint8_t, I> bytes;
  hn::Vec<decltype(bytes)> red, green, blue;
  hn::LoadInterleaved3(bytes, rgb, red, green, blue);
  const V result = words_of(w, hn::PromoteTo(i, red), hn::PromoteTo(i, green), hn::PromoteTo(i, blue));
  const auto out = hn::BitCast(hn::RebindToUnsigned<I>(), result);
  if (count == static_cast<int>(hn::Lanes(i))) return hn::StoreU(out, hn::RebindToUnsigned<I>(), words);
  HWY_ALIGN std::uint32_t rest[hn::MaxLanes(i)];
  hn::Store(out, hn::RebindToUnsigned<I>(), rest);
  std::copy_n(rest, count, words);
}

template <class T>
void row_of_words(const Weighting& w, const T* pixels, int width, int channels, int bit_depth, std::uint32_t* words) {
  constexpr int block = static_cast<int>(hn::MaxLanes(I()));
  const int lanes = static_cast<int>(hn::Lanes(I()));
  std::uint8_t rgb[3 * block] = {};
  for (int x = 0; x < width; x += lanes) {
    const int count = std::min(lanes, width - x);
    if (channels == 1) {
      for (int i = x; i < x + count; ++i) words[i] = static_cast<std::uint32_t>(to_8_bits(pixels[i], bit_depth)) << 24;
      continue;
    }
    if constexpr (sizeof(T) == 1)
      if (bit_depth == 8 && count == lanes) {
        store_words(w, pixels + 3 * x, lanes, words + x);
        continue;
      }
    for (int i = 0; i < 3 * count; ++i) rgb[i] = static_cast<std::uint8_t>(to_8_bits(pixels[3 * x + i], bit_depth));
    store_words(w, rgb, count, words + x);
  }
}

template <class T>
void word_rows(const Weighting& w, ImageView<const T> image, int bit_depth, ImageView<std::uint32_t> words, int first,
               int last) {
  for (int y = first; y < last; ++y)
    row_of_words(w, image.row(y), image.width, image.channels, bit_depth, words.row(y));
}

using Words = ImageView<std::uint32_t>;
void word_rows_u8(const Weighting& w, ImageView<const std::uint8_t> i, int b, Words o, int f, int l) {
  word_rows(w, i, b, o, f, l);
}
void word_rows_u16(const Weighting& w, ImageView<const std::uint16_t> i, int b, Words o, int f, int l) {
  word_rows(w, i, b, o, f, l);
}
void word_rows_f32(const Weighting& w, ImageView<const float> i, int b, Words o, int f, int l) {
  word_rows(w, i, b, o, f, l);
}

}  // namespace stereopsis::hsv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::hsv {

HWY_EXPORT(word_rows_u8);
HWY_EXPORT(word_rows_u16);
HWY_EXPORT(word_rows_f32);

namespace {

// Sets the word of pixels that are not finite to 0, and marks these pixels as not usable.
template <class T>
void settle_row(const T* pixels, int width, int channels, const std::uint8_t* mask, std::uint32_t* words,
                std::uint8_t* usable) {
  for (int x = 0; x < width; ++x) {
    bool finite = true;
    if constexpr (std::is_same_v<T, float>)
      for (int i = 0; i < channels; ++i) finite = finite && std::isfinite(pixels[x * channels + i]);
    if (!finite) words[x] = 0;
    if (usable != nullptr) usable[x] = finite && (mask == nullptr || mask[x] != 0) ? 255 : 0;
  }
}

}  // namespace

template <class T>
void cpu(const Weighting& w, ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask,
         ImageView<std::uint32_t> words, ImageView<std::uint8_t> usable, Threads& threads) {
  threads.rows(image.height, [&](int first, int last) {
    if constexpr (std::is_same_v<T, std::uint8_t>)
      HWY_DYNAMIC_DISPATCH(word_rows_u8)(w, image, bit_depth, words, first, last);
    if constexpr (std::is_same_v<T, std::uint16_t>)
      HWY_DYNAMIC_DISPATCH(word_rows_u16)(w, image, bit_depth, words, first, last);
    if constexpr (std::is_same_v<T, float>)
      HWY_DYNAMIC_DISPATCH(word_rows_f32)(w, image, bit_depth, words, first, last);
    if (usable.empty() && !std::is_same_v<T, float>) return;
    for (int y = first; y < last; ++y)
      settle_row(image.row(y), image.width, image.channels, mask.empty() ? nullptr : mask.row(y), words.row(y),
                 usable.empty() ? nullptr : usable.row(y));
  });
}

template void cpu(const Weighting&, ImageView<const std::uint8_t>, int, ImageView<const std::uint8_t>,
                  ImageView<std::uint32_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Weighting&, ImageView<const std::uint16_t>, int, ImageView<const std::uint8_t>,
                  ImageView<std::uint32_t>, ImageView<std::uint8_t>, Threads&);
template void cpu(const Weighting&, ImageView<const float>, int, ImageView<const std::uint8_t>,
                  ImageView<std::uint32_t>, ImageView<std::uint8_t>, Threads&);

}  // namespace stereopsis::hsv
#endif
