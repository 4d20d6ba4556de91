#include "stages/difference/difference.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/difference/difference_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::difference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<std::uint32_t>;

HWY_INLINE hn::Vec<D> word_of(Space space, hn::Vec<D> pixel) {
  if (space != Space::lab) return pixel;
  const D d;
  auto word = hn::Zero(d);
  const auto channel = [&](hn::Vec<D> quarters) HWY_ATTR {
    const auto rounded = hn::Add(hn::And(quarters, hn::Set(d, 1023)), hn::Set(d, 2));
    return hn::Min(hn::ShiftRight<2>(rounded), hn::Set(d, 255));
  };
  word = channel(pixel);
  word = hn::Or(word, hn::ShiftLeft<8>(channel(hn::ShiftRight<10>(pixel))));
  return hn::Or(word, hn::ShiftLeft<16>(channel(hn::ShiftRight<20>(pixel))));
}

HWY_INLINE hn::Vec<D> load(const std::uint32_t* pixels) { return hn::LoadU(D(), pixels); }
HWY_INLINE hn::Vec<D> load(const std::uint8_t* pixels) {
  return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<std::uint8_t, D>(), pixels));
}

template <class T>
void make_words(Space space, const T* pixels, int width, std::uint32_t* words) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= width; x += lanes) hn::StoreU(word_of(space, load(pixels + x)), d, words + x);
  if (x == width) return;
  T rest[hn::MaxLanes(d)] = {};
  std::uint32_t made[hn::MaxLanes(d)];
  std::copy(pixels + x, pixels + width, rest);
  hn::StoreU(word_of(space, load(rest)), d, made);
  std::copy_n(made, width - x, words + x);
}
void words_of_bytes(Space s, const std::uint8_t* p, int w, std::uint32_t* out) { make_words(s, p, w, out); }
void words_of_words(Space s, const std::uint32_t* p, int w, std::uint32_t* out) { make_words(s, p, w, out); }

}  // namespace stereopsis::difference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::difference {

HWY_EXPORT(words_of_bytes);
HWY_EXPORT(words_of_words);

template <class T>
void cpu(Space space, ImageView<const T> image, ImageView<std::uint32_t> words, Threads& threads) {
  threads.rows(image.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      if constexpr (sizeof(T) == 1)
        HWY_DYNAMIC_DISPATCH(words_of_bytes)(space, image.row(y), image.width, words.row(y));
      else
        HWY_DYNAMIC_DISPATCH(words_of_words)(space, image.row(y), image.width, words.row(y));
  });
}

template void cpu(Space, ImageView<const std::uint8_t>, ImageView<std::uint32_t>, Threads&);
template void cpu(Space, ImageView<const std::uint32_t>, ImageView<std::uint32_t>, Threads&);

}  // namespace stereopsis::difference
#endif
