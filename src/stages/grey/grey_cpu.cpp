#include "stages/grey/grey.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/grey/grey_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::grey::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

HWY_INLINE float weighted(const float* p) {
  const float red_green = 0.299f * p[0] + 0.587f * p[1];
  return red_green + 0.114f * p[2];
}
template <class T>
HWY_INLINE T weighted(const T* p) {
  return static_cast<T>((19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16);
}

// Computes the sum in 32 bits, and narrows it to lanes of half the width.
template <class V, class D16 = hn::DFromV<V>>
HWY_INLINE V weighted(V red, V green, V blue) {
  const D16 d16;
  const hn::Half<D16> half;
  const hn::RepartitionToWide<D16> d32;
  const hn::RebindToSigned<decltype(d32)> i32;
  const auto grey = [&](auto r, auto g, auto b) {
    const auto sum = hn::Add(hn::Add(hn::Mul(hn::PromoteTo(d32, r), hn::Set(d32, 19595)),
                                     hn::Mul(hn::PromoteTo(d32, g), hn::Set(d32, 38470))),
                             hn::Add(hn::Mul(hn::PromoteTo(d32, b), hn::Set(d32, 7471)), hn::Set(d32, 32768)));
    return hn::DemoteTo(half, hn::BitCast(i32, hn::ShiftRight<16>(sum)));
  };
  return hn::Combine(d16, grey(hn::UpperHalf(half, red), hn::UpperHalf(half, green), hn::UpperHalf(half, blue)),
                     grey(hn::LowerHalf(half, red), hn::LowerHalf(half, green), hn::LowerHalf(half, blue)));
}

template <class T>
void weigh_row(const T* in, int width, T* out) {
  const hn::ScalableTag<std::conditional_t<std::is_same_v<T, float>, float, std::uint16_t>> d;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto vector = [&](int x) {
    hn::Vec<decltype(narrow)> red, green, blue;
    hn::LoadInterleaved3(narrow, in + 3 * x, red, green, blue);
    if constexpr (std::is_same_v<T, float>) {
      const auto red_green = hn::Add(hn::Mul(hn::Set(d, 0.299f), red), hn::Mul(hn::Set(d, 0.587f), green));
      hn::StoreU(hn::Add(red_green, hn::Mul(hn::Set(d, 0.114f), blue)), d, out + x);
    } else if constexpr (std::is_same_v<T, std::uint16_t>) {
      hn::StoreU(weighted(red, green, blue), d, out + x);
    } else {
      store_narrowed(d, weighted(hn::PromoteTo(d, red), hn::PromoteTo(d, green), hn::PromoteTo(d, blue)), out + x);
    }
  };
  for_each_block(d, 0, width, vector, [&](int x) { out[x] = weighted(in + 3 * x); });
}

// Replaces values that are not finite by 0, and marks them as not usable.
void settle_row(float* grey, int width, std::uint8_t* usable) {
  for (int x = 0; x < width; ++x) {
    const bool finite = std::abs(grey[x]) <= std::numeric_limits<float>::max();
    grey[x] = finite ? grey[x] : 0.0f;
    if (usable != nullptr) usable[x] = finite ? usable[x] : std::uint8_t{0};
  }
}

template <class T>
void grey_rows(ImageView<const T> image, ImageView<const std::uint8_t> mask, ImageView<T> grey,
               ImageView<std::uint8_t> usable, int first, int last) {
  for (int y = first; y < last; ++y) {
    if (image.channels == 3)
      weigh_row(image.row(y), image.width, grey.row(y));
    else
      std::copy_n(image.row(y), image.width, grey.row(y));
    std::uint8_t* usable_row = usable.empty() ? nullptr : usable.row(y);
    if (usable_row != nullptr && mask.empty()) std::fill_n(usable_row, image.width, std::uint8_t{255});
    if (usable_row != nullptr && !mask.empty())
      std::transform(mask.row(y), mask.row(y) + image.width, usable_row,
                     [](std::uint8_t m) { return static_cast<std::uint8_t>(m != 0 ? 255 : 0); });
    if constexpr (std::is_same_v<T, float>) settle_row(grey.row(y), image.width, usable_row);
  }
}

// The arithmetic in floats is exact here: the error of the quotient is smaller than the distance of a multiple of
// 1/white from the next integer. The integer part therefore equals that of the exact quotient. A test covers all
// values.
HWY_INLINE std::uint8_t scaled(int v, int white) {
  return static_cast<std::uint8_t>((std::min(v, white) * 255 + white / 2) / white);
}
HWY_INLINE std::uint8_t scaled(float v, int) {
  return v > 0 ? static_cast<std::uint8_t>(std::min(v, 255.0f) + 0.5f) : std::uint8_t{0};
}

template <class T>
void grey8_rows(ImageView<const T> grey, int bit_depth, ImageView<std::uint8_t> grey8, int first, int last) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> i32;
  const hn::RebindToUnsigned<decltype(d)> u32;
  const hn::Rebind<T, decltype(d)> narrow;
  const int white = (1 << bit_depth) - 1;
  for (int y = first; y < last; ++y) {
    const T* in = grey.row(y);
    std::uint8_t* out = grey8.row(y);
    const auto vector = [&](int x) {
      const auto loaded = hn::LoadU(narrow, in + x);
      hn::Vec<decltype(d)> value;
      if constexpr (std::is_same_v<T, float>) {
        const auto positive = hn::IfThenElseZero(hn::Gt(loaded, hn::Zero(d)), hn::Min(loaded, hn::Set(d, 255.0f)));
        value = hn::Add(positive, hn::Set(d, 0.5f));
      } else {
        const auto clamped = hn::Min(hn::PromoteTo(i32, loaded), hn::Set(i32, white));
        const auto numerator = hn::Add(hn::Mul(clamped, hn::Set(i32, 255)), hn::Set(i32, white / 2));
        value = hn::Div(hn::ConvertTo(d, numerator), hn::Set(d, static_cast<float>(white)));
      }
      store_narrowed(u32, hn::BitCast(u32, hn::ConvertTo(i32, value)), out + x);
    };
    if (std::is_same_v<T, std::uint8_t> && white == 255)
      std::copy_n(in, grey.width, reinterpret_cast<T*>(out));
    else
      for_each_block(d, 0, grey.width, vector, [&](int x) { out[x] = scaled(in[x], white); });
  }
}

using Bytes = ImageView<std::uint8_t>;
using Mask = ImageView<const std::uint8_t>;
void grey_u8(ImageView<const std::uint8_t> i, Mask m, Bytes g, Bytes u, int a, int b) { grey_rows(i, m, g, u, a, b); }
void grey_u16(ImageView<const std::uint16_t> i, Mask m, ImageView<std::uint16_t> g, Bytes u, int a, int b) {
  grey_rows(i, m, g, u, a, b);
}
void grey_f32(ImageView<const float> i, Mask m, ImageView<float> g, Bytes u, int a, int b) {
  grey_rows(i, m, g, u, a, b);
}
void grey8_u8(ImageView<const std::uint8_t> g, int depth, Bytes o, int a, int b) { grey8_rows(g, depth, o, a, b); }
void grey8_u16(ImageView<const std::uint16_t> g, int depth, Bytes o, int a, int b) { grey8_rows(g, depth, o, a, b); }
void grey8_f32(ImageView<const float> g, int depth, Bytes o, int a, int b) { grey8_rows(g, depth, o, a, b); }

}  // namespace stereopsis::grey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::grey {

HWY_EXPORT(grey_u8);
HWY_EXPORT(grey_u16);
HWY_EXPORT(grey_f32);
HWY_EXPORT(grey8_u8);
HWY_EXPORT(grey8_u16);
HWY_EXPORT(grey8_f32);

template <class T>
void cpu(ImageView<const T> image, ImageView<const std::uint8_t> mask, ImageView<T> grey,
         ImageView<std::uint8_t> usable, Threads& threads) {
  check_channels(image.channels);
  threads.rows(image.height, [&](int first, int last) {
    if constexpr (std::is_same_v<T, std::uint8_t>)
      HWY_DYNAMIC_DISPATCH(grey_u8)(image, mask, grey, usable, first, last);
    if constexpr (std::is_same_v<T, std::uint16_t>)
      HWY_DYNAMIC_DISPATCH(grey_u16)(image, mask, grey, usable, first, last);
    if constexpr (std::is_same_v<T, float>) HWY_DYNAMIC_DISPATCH(grey_f32)(image, mask, grey, usable, first, last);
  });
}

template <class T>
void cpu8(ImageView<const T> grey, int bit_depth, ImageView<std::uint8_t> grey8, Threads& threads) {
  check_bit_depth<T>(bit_depth);
  threads.rows(grey.height, [&](int first, int last) {
    if constexpr (std::is_same_v<T, std::uint8_t>) HWY_DYNAMIC_DISPATCH(grey8_u8)(grey, bit_depth, grey8, first, last);
    if constexpr (std::is_same_v<T, std::uint16_t>)
      HWY_DYNAMIC_DISPATCH(grey8_u16)(grey, bit_depth, grey8, first, last);
    if constexpr (std::is_same_v<T, float>) HWY_DYNAMIC_DISPATCH(grey8_f32)(grey, bit_depth, grey8, first, last);
  });
}

template void cpu(ImageView<const std::uint8_t>, ImageView<const std::uint8_t>, ImageView<std::uint8_t>,
                  ImageView<std::uint8_t>, Threads&);
template void cpu(ImageView<const std::uint16_t>, ImageView<const std::uint8_t>, ImageView<std::uint16_t>,
                  ImageView<std::uint8_t>, Threads&);
template void cpu(ImageView<const float>, ImageView<const std::uint8_t>, ImageView<float>, ImageView<std::uint8_t>,
                  Threads&);
template void cpu8(ImageView<const std::uint8_t>, int, ImageView<std::uint8_t>, Threads&);
template void cpu8(ImageView<const std::uint16_t>, int, ImageView<std::uint8_t>, Threads&);
template void cpu8(ImageView<const float>, int, ImageView<std::uint8_t>, Threads&);

}  // namespace stereopsis::grey
#endif
