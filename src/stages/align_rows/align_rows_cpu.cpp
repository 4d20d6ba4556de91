#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/cubic.hpp"
#include "device/cpu/threads.hpp"
#include "stages/align_rows/align_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/align_rows/align_rows_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::align_rows::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int one = 1 << fraction_bits;

// Loads pixels as the numbers with which they are interpolated: 32-bit integers, or float.
template <class D, class T>
HWY_INLINE auto load(D d, const T* from) {
  if constexpr (std::is_same_v<T, float>)
    return hn::LoadU(hn::RebindToFloat<D>(), from);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
}

// Interpolates Lanes(d) elements with these weights.
template <class T, class D, class V>
HWY_INLINE void weigh(D d, V w0, V w1, V w2, V w3, const std::array<const T*, 4>& rows, std::ptrdiff_t i, int white,
                      T* out) {
  const auto v0 = load(d, rows[0] + i), v1 = load(d, rows[1] + i), v2 = load(d, rows[2] + i), v3 = load(d, rows[3] + i);
  if constexpr (std::is_same_v<T, float>) {
    const hn::RebindToFloat<D> df;
    const auto unit = hn::Set(df, 1.0F / (1 << weight_bits));
    const auto term = [&](V w, auto v) HWY_ATTR { return hn::Mul(hn::Mul(hn::ConvertTo(df, w), unit), v); };
    const auto sum = hn::Add(hn::Add(hn::Add(term(w0, v0), term(w1, v1)), term(w2, v2)), term(w3, v3));
    hn::StoreU(sum, df, out + i);
  } else {
    const V sum = hn::Add(hn::Add(hn::Mul(w0, v0), hn::Mul(w1, v1)), hn::Add(hn::Mul(w2, v2), hn::Mul(w3, v3)));
    const V value = hn::ShiftRight<weight_bits>(hn::Add(sum, hn::Set(d, 1 << (weight_bits - 1))));
    const hn::Rebind<T, D> dt;
    hn::StoreU(hn::DemoteTo(dt, hn::Min(hn::Max(value, hn::Zero(d)), hn::Set(d, white))), dt, out + i);
  }
}

// Interpolates Lanes(d) elements whose positions have the same whole row. `f` are the fractions of the positions.
template <class T, class D, class V>
HWY_INLINE void interpolate(D d, V f, const std::array<const T*, 4>& rows, std::ptrdiff_t i, int white, T* out) {
  const auto weight = [d](V twice) HWY_ATTR {
    return hn::ShiftRight<25 - weight_bits>(hn::Add(twice, hn::Set(d, 1 << (24 - weight_bits))));
  };
  const V square = hn::Mul(f, f), t1 = hn::ShiftLeft<16>(f), t2 = hn::ShiftLeft<8>(square), t3 = hn::Mul(square, f);
  const V w0 = weight(hn::Sub(hn::ShiftLeft<1>(t2), hn::Add(t3, t1)));
  const V w2 = weight(hn::Sub(hn::Add(hn::ShiftLeft<2>(t2), t1), hn::Add(hn::ShiftLeft<1>(t3), t3)));
  const V w3 = weight(hn::Sub(t3, t2));
  const V w1 = hn::Sub(hn::Set(d, 1 << weight_bits), hn::Add(w0, hn::Add(w2, w3)));
  weigh(d, w0, w1, w2, w3, rows, i, white, out);
}

template <class T>
std::array<const T*, 4> rows_at(const ImageView<const T>& image, int position) {
  std::array<const T*, 4> rows;
  for (int k = 0; k < 4; ++k)
    rows[static_cast<std::size_t>(k)] = image.row(std::clamp((position >> fraction_bits) + k - 1, 0, image.height - 1));
  return rows;
}

// Interpolates single elements, at the borders of blocks and where the whole row changes.
template <class T>
T interpolated(const ImageView<const T>& image, int position, std::ptrdiff_t i, int white) {
  const auto rows = rows_at(image, position);
  const auto w = cubic_weights<weight_bits>(position & (one - 1));
  if constexpr (std::is_same_v<T, float>) {
    constexpr float unit = 1.0F / (1 << weight_bits);
    return ((w[0] * unit * rows[0][i] + w[1] * unit * rows[1][i]) + w[2] * unit * rows[2][i]) +
           w[3] * unit * rows[3][i];
  } else {
    const int sum = w[0] * rows[0][i] + w[1] * rows[1][i] + w[2] * rows[2][i] + w[3] * rows[3][i];
    return static_cast<T>(std::clamp((sum + (1 << (weight_bits - 1))) >> weight_bits, 0, white));
  }
}

constexpr int shift = RowPositions::shift;

// Interpolates the elements `first` to `last` − 1, which have the same position. The last vector may write more elements
// of the row, which the next run replaces.
template <class T>
void interpolate_run(const ImageView<const T>& image, int position, std::ptrdiff_t first, std::ptrdiff_t last,
                     int white, T* out) {
  const hn::ScalableTag<std::int32_t> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto w = cubic_weights<weight_bits>(position & (one - 1));
  const auto w0 = hn::Set(d, w[0]), w1 = hn::Set(d, w[1]), w2 = hn::Set(d, w[2]), w3 = hn::Set(d, w[3]);
  const auto rows = rows_at(image, position);
  const std::ptrdiff_t end = std::ptrdiff_t{image.width} * image.channels;
  std::ptrdiff_t i = first;
  for (; i < last && i + lanes <= end; i += lanes) weigh(d, w0, w1, w2, w3, rows, i, white, out);
  for (; i < last; ++i) out[i] = interpolated(image, position, i, white);
}

// Interpolates a row by runs of pixels that have the same position. `across` is the change of the position along the row.
template <class T>
void align_runs(const ImageView<const T>& image, std::int64_t at, std::int64_t across, int white, T* out) {
  for (int x = 0; x < image.width;) {
    const std::int64_t here = at + across * x, position = here >> shift;
    // Number of pixels until the position changes, upwards or downwards.
    const std::int64_t rest = across > 0 ? ((position + 1) << shift) - here : here - (position << shift) + 1;
    const std::int64_t run = across == 0 ? image.width : (rest + std::abs(across) - 1) / std::abs(across);
    const int last = static_cast<int>(std::min<std::int64_t>(x + run, image.width));
    interpolate_run(image, static_cast<int>(position), std::ptrdiff_t{x} * image.channels,
                    std::ptrdiff_t{last} * image.channels, white, out);
    x = last;
  }
}

// Interpolates a row whose pixels have different positions. A position has a whole part, in 1/256 px, and a rest. The
// vectors that begin in the same channel have the same distance, so that each of them moves on by the same step.
template <class T>
void align_pixels(const ImageView<const T>& image, std::int64_t at, std::int64_t across, int white, T* out) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  constexpr std::size_t most = 3 * HWY_MAX_BYTES / sizeof(std::int32_t);
  HWY_ALIGN std::array<std::int32_t, most> whole;
  HWY_ALIGN std::array<std::uint32_t, most> rest;
  const int channels = image.channels, lanes = static_cast<int>(hn::Lanes(d)), count = image.width * channels;
  for (int i = 0; i < channels * lanes; ++i) {
    const std::int64_t here = at + across * (i / channels);
    whole[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(here >> shift);
    rest[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(here);
  }
  const std::int64_t step = across * lanes;
  const auto whole_step = hn::Set(d, static_cast<std::int32_t>(step >> shift)), fraction = hn::Set(d, one - 1);
  const auto rest_step = hn::Set(du, static_cast<std::uint32_t>(step));
  int i = 0;
  const auto one_by_one = [&](int last) HWY_ATTR {
    for (; i < last; ++i)
      out[i] = interpolated(image, static_cast<int>((at + across * (i / channels)) >> shift), i, white);
  };
  for (int from = 0; i + lanes <= count; from = (from + lanes) % (channels * lanes)) {
    const auto here = hn::Load(d, whole.data() + from);
    const auto rest_here = hn::Load(du, rest.data() + from), next = hn::Add(rest_here, rest_step);
    const auto carry = hn::BitCast(d, hn::VecFromMask(du, hn::Lt(next, rest_here)));  // −1 or 0
    hn::Store(hn::Sub(hn::Add(here, whole_step), carry), d, whole.data() + from);
    hn::Store(next, du, rest.data() + from);
    const auto f = hn::And(here, fraction);
    const int first = hn::GetLane(here);
    if (hn::AllTrue(d, hn::Eq(hn::Sub(here, f), hn::Set(d, first & ~(one - 1))))) {
      interpolate(d, f, rows_at(image, first), i, white, out);
      i += lanes;
    } else {
      one_by_one(i + lanes);
    }
  }
  one_by_one(count);
}

// Interpolates a row with a field, whose pixels have any positions.
template <class T>
void align_bent(const ImageView<const T>& image, const RowPositions& positions, int white, T* out) {
  const hn::ScalableTag<std::int32_t> d;
  const auto fraction = hn::Set(d, one - 1);
  const int channels = image.channels, lanes = static_cast<int>(hn::Lanes(d)), count = image.width * channels;
  HWY_ALIGN std::array<std::int32_t, HWY_MAX_BYTES / sizeof(std::int32_t)> at;
  int x = 0, channel = 0;
  for (int i = 0; i < count; i += lanes) {
    const int last = std::min(lanes, count - i);
    for (int k = 0; k < last; ++k) {
      at[static_cast<std::size_t>(k)] = channel == 0 || k == 0 ? positions(x) : at[static_cast<std::size_t>(k - 1)];
      channel = channel + 1 == channels ? 0 : channel + 1;
      x += channel == 0;
    }
    const auto here = hn::Load(d, at.data()), f = hn::And(here, fraction);
    if (last == lanes && hn::AllTrue(d, hn::Eq(hn::Sub(here, f), hn::Set(d, at[0] & ~(one - 1)))))
      interpolate(d, f, rows_at(image, at[0]), i, white, out);
    else
      for (int k = 0; k < last; ++k) out[i + k] = interpolated(image, at[static_cast<std::size_t>(k)], i + k, white);
  }
}

constexpr int shortest_run = 12;  // pixels of a run; vectors of shorter runs have several positions

template <class T>
void align_row(const Parameters& p, const ImageView<const T>& image, int y, T* out) {
  const RowPositions positions(p, y);
  if (!positions.is_straight()) return align_bent(image, positions, p.white, out);
  const bool has_runs = std::abs(positions.across()) * shortest_run <= std::int64_t{1} << shift;
  (has_runs ? align_runs<T> : align_pixels<T>)(image, positions.at(), positions.across(), p.white, out);
}

void align_row_u8(const Parameters& p, const ImageView<const std::uint8_t>& i, int y, std::uint8_t* o) {
  align_row(p, i, y, o);
}
void align_row_u16(const Parameters& p, const ImageView<const std::uint16_t>& i, int y, std::uint16_t* o) {
  align_row(p, i, y, o);
}
void align_row_f32(const Parameters& p, const ImageView<const float>& i, int y, float* o) { align_row(p, i, y, o); }

}  // namespace stereopsis::align_rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::align_rows {
namespace {

HWY_EXPORT(align_row_u8);
HWY_EXPORT(align_row_u16);
HWY_EXPORT(align_row_f32);

constexpr int one = 1 << fraction_bits;

// Marks the pixels whose position is in the image, and whose neighbours with a weight are not masked. The positions
// along a row are in ascending or in descending order if there is no field.
template <class T>
void mark_row(const Parameters& p, const InputOf<T, ImageView>& in, int y, std::uint8_t* usable) {
  const int width = in.image.width, height = in.image.height;
  const auto is_inside = [&](int at) { return at >= -one / 2 && at <= one * height - one / 2; };
  const RowPositions positions(p, y);
  int at = positions(0);
  if (positions.is_straight() && in.mask.empty() && is_inside(at) && is_inside(positions(width - 1)))
    return static_cast<void>(std::fill_n(usable, width, std::uint8_t{255}));
  for (int first = 0, last = 0; first < width; first = last) {
    const int here = at;
    while (last < width && at == here) at = positions(++last);
    std::fill(usable + first, usable + last, is_inside(here) ? 255 : 0);
    const auto w = cubic_weights<weight_bits>(here & (one - 1));
    for (int k = 0; k < 4 && !in.mask.empty(); ++k)
      if (w[static_cast<std::size_t>(k)] != 0) {
        const std::uint8_t* mask = in.mask.row(std::clamp((here >> fraction_bits) + k - 1, 0, height - 1));
        for (int x = first; x < last; ++x) usable[x] = mask[x] != 0 ? usable[x] : 0;
      }
  }
}

// Limits the sums of a row to the values of pixels.
void limit_row(ImageView<float> image, int y, float white, std::uint8_t* usable) {
  float* value = image.row(y);
  for (int x = 0; x < image.width; ++x)
    for (int c = 0; c < image.channels; ++c, ++value) {
      if (usable != nullptr && !std::isfinite(*value)) usable[x] = 0;
      *value = std::isfinite(*value) ? std::clamp(*value, 0.0F, white) : 0;
    }
}

}  // namespace

template <class T>
void cpu(const Parameters& p, const InputOf<T, ImageView>& in, const OutputOf<T, ImageView>& out, Threads& threads) {
  check(in, out);
  threads.rows(out.image.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      std::uint8_t* usable = out.usable.empty() ? nullptr : out.usable.row(y);
      if constexpr (std::is_same_v<T, std::uint8_t>)
        HWY_DYNAMIC_DISPATCH(align_row_u8)(p, in.image, y, out.image.row(y));
      if constexpr (std::is_same_v<T, std::uint16_t>)
        HWY_DYNAMIC_DISPATCH(align_row_u16)(p, in.image, y, out.image.row(y));
      if constexpr (std::is_same_v<T, float>) HWY_DYNAMIC_DISPATCH(align_row_f32)(p, in.image, y, out.image.row(y));
      if (usable != nullptr) mark_row(p, in, y, usable);
      if constexpr (std::is_same_v<T, float>) limit_row(out.image, y, static_cast<float>(p.white), usable);
    }
  });
}

template void cpu(const Parameters&, const InputOf<std::uint8_t, ImageView>&, const OutputOf<std::uint8_t, ImageView>&,
                  Threads&);
template void cpu(const Parameters&, const InputOf<std::uint16_t, ImageView>&,
                  const OutputOf<std::uint16_t, ImageView>&, Threads&);
template void cpu(const Parameters&, const InputOf<float, ImageView>&, const OutputOf<float, ImageView>&, Threads&);

void map_cpu(const Parameters& p, ImageView<const std::int32_t> map, ImageView<std::int32_t> out, Threads& threads) {
  threads.rows(out.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      std::int32_t* to = out.row(y);
      const RowPositions positions(p, y);
      for (int x = 0; x < out.width; ++x) {
        const int at = positions(x);
        const int upper = std::clamp(at >> fraction_bits, 0, std::max(map.height - 2, 0));
        const std::int32_t* const from = map.row(upper) + 2 * x;
        const std::int32_t* const below = map.row(std::min(upper + 1, map.height - 1)) + 2 * x;
        for (const int c : {0, 1}) to[2 * x + c] = between(from[c], below[c], at, upper);
      }
    }
  });
}

void restore_cpu(const Parameters& p, ImageView<const float> map, ImageView<float> out, Threads& threads) {
  threads.rows(out.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < out.width; ++x) {
        const int row = restored_row(p, x, y);
        out(x, y) = row >= 0 && row < map.height ? map(x, row) : std::numeric_limits<float>::quiet_NaN();
      }
  });
}

}  // namespace stereopsis::align_rows
#endif
