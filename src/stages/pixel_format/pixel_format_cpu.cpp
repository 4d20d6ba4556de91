#include "stages/pixel_format/pixel_format.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/pixel_format/pixel_format_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::pixel_format::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

template <int channels, class T>
void order_row(const T* in, bool blue_first, int width, T* out) {
  const hn::ScalableTag<T> d;
  const auto vector = [&](int x) HWY_ATTR {
    hn::Vec<decltype(d)> first, green, third;
    [[maybe_unused]] hn::Vec<decltype(d)> alpha;
    if constexpr (channels == 4)
      hn::LoadInterleaved4(d, in + 4 * x, first, green, third, alpha);
    else
      hn::LoadInterleaved3(d, in + 3 * x, first, green, third);
    if (blue_first)
      hn::StoreInterleaved3(third, green, first, d, out + 3 * x);
    else
      hn::StoreInterleaved3(first, green, third, d, out + 3 * x);
  };
  const int red = blue_first ? 2 : 0;
  for_each_block(d, 0, width, vector, [&](int x) {
    out[3 * x] = in[channels * x + red];
    out[3 * x + 1] = in[channels * x + 1];
    out[3 * x + 2] = in[channels * x + 2 - red];
  });
}

// Covers [first, last) with blocks of `lanes` pixels, at an even distance from the first pixel, and processes the
// remaining pixels one by one.
template <class VectorFunction, class ScalarFunction>
HWY_INLINE void for_each_even_block(int lanes, int first, int last, VectorFunction&& vector, ScalarFunction&& scalar) {
  int x = first;
  for (; lanes % 2 == 0 && x + lanes <= last; x += lanes) vector(x);
  if (x > first && x < last) {
    x = last - (last - first) % 2 - lanes;
    vector(x);
    x += lanes;
  }
  for (; x < last; ++x) scalar(x);
}

void nv12_pixel(int luma, int u, int v, std::uint8_t* out) {
  const auto clipped = [](int sum) { return static_cast<std::uint8_t>(std::clamp((sum + 128) >> 8, 0, 255)); };
  const int c = 298 * (luma - 16), d = u - 128, e = v - 128;
  out[0] = clipped(c + 409 * e);
  out[1] = clipped(c - 100 * d - 208 * e);
  out[2] = clipped(c + 516 * d);
}

// If the row starts at an odd column, its first pixel is the second pixel of a chroma block.
void nv12_row(const std::uint8_t* luma, const std::uint8_t* chroma, bool starts_odd, int width, std::uint8_t* out) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const hn::Rebind<std::int16_t, decltype(d)> half16;
  const hn::Rebind<std::uint8_t, decltype(d16)> narrow;
  const int quarter = static_cast<int>(hn::Lanes(d));
  const int odd = starts_odd ? 1 : 0;
  const auto sums = [&](int x, auto& red, auto& green, auto& blue) HWY_ATTR {
    const auto uv = hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, chroma + x + odd)), hn::Set(d, 128));
    const auto luma_there = hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, luma + x)), hn::Set(d, 16));
    const auto u = hn::DupEven(uv), v = hn::DupOdd(uv);
    const auto c = hn::Add(hn::Mul(luma_there, hn::Set(d, 298)), hn::Set(d, 128));
    const auto times = [&](auto value, int factor) HWY_ATTR { return hn::Mul(value, hn::Set(d, factor)); };
    const auto scaled = [&](auto sum) HWY_ATTR { return hn::DemoteTo(half16, hn::ShiftRight<8>(sum)); };
    red = scaled(hn::Add(c, times(v, 409)));
    green = scaled(hn::Sub(hn::Sub(c, times(u, 100)), times(v, 208)));
    blue = scaled(hn::Add(c, times(u, 516)));
  };
  const auto vector = [&](int x) HWY_ATTR {
    hn::Vec<decltype(half16)> low[3], high[3];
    sums(x, low[0], low[1], low[2]);
    sums(x + quarter, high[0], high[1], high[2]);
    const auto whole = [&](int i) HWY_ATTR { return hn::DemoteTo(narrow, hn::Combine(d16, high[i], low[i])); };
    hn::StoreInterleaved3(whole(0), whole(1), whole(2), narrow, out + 3 * x);
  };
  const auto scalar = [&](int x) {
    const std::uint8_t* uv = chroma + (x + odd) / 2 * 2;
    nv12_pixel(luma[x], uv[0], uv[1], out + 3 * x);
  };
  if (starts_odd) scalar(0);
  for_each_even_block(2 * quarter, odd, width, vector, scalar);
}

// Sums of integers have twice the width of the pixels of the mosaic.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, float>, float,
                               std::conditional_t<sizeof(T) == 1, std::uint16_t, std::uint32_t>>;

template <int count, class D, class V>
HWY_INLINE V mean(D d, V sum) {
  if constexpr (std::is_same_v<hn::TFromD<D>, float>)
    return hn::Mul(sum, hn::Set(d, 1.0f / count));
  else
    return hn::ShiftRight<count / 2>(hn::Add(sum, hn::Set(d, count / 2)));
}
template <int count, class S>
S mean(S sum) {
  if constexpr (std::is_same_v<S, float>)
    return sum * (1.0f / count);
  else
    return static_cast<S>((sum + count / 2) / count);
}

// Three rows of a mosaic, of which the middle one is processed, from the first output pixel on.
template <class T>
struct Around {
  const T *above, *here, *below;
  bool red_row;                // true for a row with red pixels, false for a row with blue pixels
  bool green_first;            // true if the first pixel is green
  bool room_left, room_right;  // true if the mosaic continues on the left, and on the right
};

template <class T>
void bayer_pixel(const Around<T>& rows, int x, int left, int right, T* out) {
  using S = Sum<T>;
  const auto [above, here, below] = std::array{rows.above, rows.here, rows.below};
  S green, in_row, in_other;
  if ((x % 2 == 0) == rows.green_first) {
    green = here[x];
    in_row = mean<2>(static_cast<S>(static_cast<S>(here[left]) + here[right]));
    in_other = mean<2>(static_cast<S>(static_cast<S>(above[x]) + below[x]));
  } else {
    green = mean<4>(static_cast<S>(static_cast<S>(above[x]) + here[left] + here[right] + below[x]));
    in_row = here[x];
    in_other = mean<4>(static_cast<S>(static_cast<S>(above[left]) + above[right] + below[left] + below[right]));
  }
  out[0] = static_cast<T>(rows.red_row ? in_row : in_other);
  out[1] = static_cast<T>(green);
  out[2] = static_cast<T>(rows.red_row ? in_other : in_row);
}

// Converts a block from column x on. `green_first` is true if the first pixel of the block is green.
template <class T>
HWY_INLINE void bayer_block(const Around<T>& rows, int x, bool green_first, T* out) {
  const hn::ScalableTag<Sum<T>> d;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto at = [&](const T* row, int i) HWY_ATTR {
    if constexpr (std::is_same_v<T, float>)
      return hn::LoadU(d, row + i);
    else
      return hn::PromoteTo(d, hn::LoadU(narrow, row + i));
  };
  const auto narrowed = [&](auto v) HWY_ATTR {
    if constexpr (std::is_same_v<T, float>)
      return v;
    else
      return hn::DemoteTo(narrow, hn::BitCast(hn::RebindToSigned<decltype(d)>(), v));
  };
  const auto sum = [](auto a, auto b, auto c, auto e) HWY_ATTR { return hn::Add(hn::Add(hn::Add(a, b), c), e); };
  const auto here = at(rows.here, x), above = at(rows.above, x), below = at(rows.below, x);
  const auto left = at(rows.here, x - 1), right = at(rows.here, x + 1);
  const auto cross = mean<4>(d, sum(above, left, right, below));
  const auto diagonal =
      mean<4>(d, sum(at(rows.above, x - 1), at(rows.above, x + 1), at(rows.below, x - 1), at(rows.below, x + 1)));
  const auto pick = [&](auto where_green, auto elsewhere) HWY_ATTR {
    return green_first ? hn::OddEven(elsewhere, where_green) : hn::OddEven(where_green, elsewhere);
  };
  const auto green = narrowed(pick(here, cross));
  const auto in_row = narrowed(pick(mean<2>(d, hn::Add(left, right)), here));
  const auto in_other = narrowed(pick(mean<2>(d, hn::Add(above, below)), diagonal));
  if (rows.red_row)
    hn::StoreInterleaved3(in_row, green, in_other, narrow, out);
  else
    hn::StoreInterleaved3(in_other, green, in_row, narrow, out);
}

template <class T>
void bayer_row(const Around<T>& rows, int width, T* out) {
  const int lanes = static_cast<int>(hn::Lanes(hn::ScalableTag<Sum<T>>()));
  const int first = rows.room_left ? 0 : 1, last = rows.room_right ? width : width - 1;
  if (first > 0) bayer_pixel(rows, 0, 1, 1, out);
  const bool green = (first % 2 == 0) == rows.green_first;
  for_each_even_block(
      lanes, first, last, [&](int x) HWY_ATTR { bayer_block(rows, x, green, out + 3 * x); },
      [&](int x) { bayer_pixel(rows, x, x - 1, x + 1, out + 3 * x); });
  if (last < width) bayer_pixel(rows, width - 1, width - 2, width - 2, out + 3 * (width - 1));
}

template <class T>
Around<T> around(const Parameters& p, const ImageView<const T>& mosaic, int width, int y) {
  const Mosaic m(p.format);
  const int row = y + p.first.y, x = p.first.x;
  const auto at = [&](int r) { return mosaic.row(r) + x; };
  const bool red_row = (row - m.red_y) % 2 == 0, red_column = (x - m.red_x) % 2 == 0;
  return {at(row == 0 ? 1 : row - 1),
          at(row),
          at(row == mosaic.height - 1 ? row - 1 : row + 1),
          red_row,
          red_row != red_column,
          x > 0,
          x + width < mosaic.width};
}

template <class T>
void convert_rows(const Parameters& p, const InputOf<T, ImageView>& in, const ImageView<T>& rgb, int first, int last) {
  for (int y = first; y < last; ++y) {
    T* out = rgb.row(y);
    if (is_bayer(p.format)) {
      bayer_row(around(p, in.image, rgb.width, y), rgb.width, out);
    } else if (p.format == PixelFormat::nv12) {
      if constexpr (std::is_same_v<T, std::uint8_t>)
        nv12_row(in.image.row(y), in.chroma.row((y + p.first.y) / 2) + p.first.x / 2 * 2, p.first.x % 2 != 0, rgb.width,
                 out);
    } else {
      const auto order = in.image.channels == 4 ? order_row<4, T> : order_row<3, T>;
      order(in.image.row(y), p.format != PixelFormat::rgba, rgb.width, out);
    }
  }
}

using U8 = std::uint8_t;
using U16 = std::uint16_t;
void rows_u8(const Parameters& p, const InputOf<U8, ImageView>& in, const ImageView<U8>& rgb, int a, int b) {
  convert_rows(p, in, rgb, a, b);
}
void rows_u16(const Parameters& p, const InputOf<U16, ImageView>& in, const ImageView<U16>& rgb, int a, int b) {
  convert_rows(p, in, rgb, a, b);
}
void rows_f32(const Parameters& p, const InputOf<float, ImageView>& in, const ImageView<float>& rgb, int a, int b) {
  convert_rows(p, in, rgb, a, b);
}

}  // namespace stereopsis::pixel_format::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::pixel_format {

HWY_EXPORT(rows_u8);
HWY_EXPORT(rows_u16);
HWY_EXPORT(rows_f32);

template <class T>
void cpu(const Parameters& p, const InputOf<T, ImageView>& in, ImageView<T> rgb, Threads& threads) {
  threads.rows(rgb.height, [&](int first, int last) {
    if constexpr (std::is_same_v<T, std::uint8_t>) HWY_DYNAMIC_DISPATCH(rows_u8)(p, in, rgb, first, last);
    if constexpr (std::is_same_v<T, std::uint16_t>) HWY_DYNAMIC_DISPATCH(rows_u16)(p, in, rgb, first, last);
    if constexpr (std::is_same_v<T, float>) HWY_DYNAMIC_DISPATCH(rows_f32)(p, in, rgb, first, last);
  });
}

template void cpu(const Parameters&, const InputOf<std::uint8_t, ImageView>&, ImageView<std::uint8_t>, Threads&);
template void cpu(const Parameters&, const InputOf<std::uint16_t, ImageView>&, ImageView<std::uint16_t>, Threads&);
template void cpu(const Parameters&, const InputOf<float, ImageView>&, ImageView<float>, Threads&);

}  // namespace stereopsis::pixel_format
#endif
