// The evidence of learned_confidence.hpp in vectors of pixels.
#if defined(STEREOPSIS_LEARNED_CONFIDENCE_EVIDENCE_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_LEARNED_CONFIDENCE_EVIDENCE_CPU_INL
#undef STEREOPSIS_LEARNED_CONFIDENCE_EVIDENCE_CPU_INL
#else
#define STEREOPSIS_LEARNED_CONFIDENCE_EVIDENCE_CPU_INL
#endif

#include <cstring>

#include "device/cpu/highway-inl.hpp"
#include "stages/learned_confidence/learned_confidence_memory.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::learned_confidence::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::RebindToUnsigned<D16>;
using D32 = hn::ScalableTag<std::int32_t>;
using V16 = hn::VFromD<D16>;
using V32 = hn::VFromD<D32>;

HWY_INLINE V16 number(int value) { return hn::Set(D16(), static_cast<std::int16_t>(value)); }
HWY_INLINE V16 limited(V16 v) { return hn::Min(hn::Max(v, hn::Zero(D16())), number(127)); }
HWY_INLINE V16 load(const std::int16_t* at) { return hn::LoadU(D16(), at); }

// 32-bit numbers of a vector of pixels. The constructors are written out, because an implicit one is compiled without the
// target's instructions, and then cannot call those of vectors.
struct Wide {
  Wide() = default;
  Wide(V32 low_, V32 high_) : low(low_), high(high_) {}

  V32 low, high;
};
// Applies f to the 32-bit numbers of each pixel.
template <class F, class... W>
HWY_INLINE Wide each(F&& f, const W&... of) {
  return {f(of.low...), f(of.high...)};
}
HWY_INLINE Wide load(const std::int32_t* at) { return {hn::LoadU(D32(), at), hn::LoadU(D32(), at + hn::Lanes(D32()))}; }
HWY_INLINE Wide promoted(V16 v) {
  const hn::Half<D16> half;
  return {hn::PromoteTo(D32(), hn::LowerHalf(half, v)), hn::PromoteTo(D32(), hn::UpperHalf(half, v))};
}
HWY_INLINE V16 saturated(const Wide& wide) {
#if HWY_TARGET == HWY_AVX2
  // This is faster than two conversions, each of which restores the order.
  return V16{_mm256_permute4x64_epi64(_mm256_packs_epi32(wide.low.raw, wide.high.raw), 0b11'01'10'00)};
#else
  const hn::Half<D16> half;
  return hn::Combine(D16(), hn::DemoteTo(half, wide.high), hn::DemoteTo(half, wide.low));
#endif
}
HWY_INLINE Wide difference(const Wide& a, const Wide& b) {
  return each([](V32 of_a, V32 of_b) HWY_ATTR { return hn::Sub(of_a, of_b); }, a, b);
}

// Computes the rows of the images at row y.
HWY_INLINE void fill_row(const Input& in, int y, const Evidence& e) {
  const int width = e.size.width, lanes = static_cast<int>(hn::Lanes(D32()));
  const hn::RebindToFloat<D32> f;
  const float* const disparity = in.disparity.row(y);
  std::int32_t* const q = e.q.row(y);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto d = hn::LoadU(f, disparity + x);
    const V32 rounded = hn::ConvertTo(D32(), hn::Floor(hn::Add(hn::Mul(d, hn::Set(f, 16)), hn::Set(f, 0.5f))));
    const auto valid = hn::RebindMask(D32(), hn::Lt(hn::Abs(d), hn::Set(f, 32768)));
    hn::StoreU(hn::IfThenElse(valid, rounded, hn::Set(D32(), nothing)), D32(), q + x);
  }
  for (; x < width; ++x) q[x] = in_16ths(disparity[x]);
  e.q.surround(y, width);

  const std::uint8_t *const validity = in.validity.row(y), *const left = in.left.row(y);
  std::int16_t *const measured = e.measured.row(y), *const grey = e.grey.row(y), *const gradient = e.gradient.row(y);
  for (x = 0; x < width; ++x) measured[x] = static_cast<std::int16_t>(-(validity[x] == 0));
  for (x = 0; x < width; ++x) grey[x] = left[x];
  e.grey.surround(y, width);
  for (x = 0; x < width; ++x) gradient[x] = static_cast<std::int16_t>(std::abs(grey[x + 1] - grey[x - 1]));
  e.gradient.surround(y, width);
  std::copy_n(in.right.row(y), width, e.right.row(y));
  e.right.surround(y, width);
}

// Computes Z for each column of the right view.
HWY_INLINE void fill_largest(int y, const Evidence& e) {
  const std::int32_t* const q = e.q.row(y);
  std::int32_t* const z = e.largest.row(0);
  std::fill_n(e.largest.first, e.largest.pitch, nothing);
  for (int x = 0; x < e.size.width; ++x) {
    const int d = whole(q[x]), u = x - d;
    if (q[x] != nothing && u >= 0 && u < e.size.width) z[u] = std::max(z[u], d);
  }
}

struct Agreements {
  Agreements() = default;
  Agreements(V16 valid_, V16 measured_) : valid(valid_), measured(measured_) {}

  V16 valid, measured;
};

HWY_INLINE Agreements shares(V16 valid, V16 measured, V16 all) {
  const hn::RebindToFloat<D32> f;
  using F = hn::VFromD<decltype(f)>;
  const auto to_float = [&](V32 v) HWY_ATTR { return hn::ConvertTo(f, v); };
  // ⌊(127 S + ⌊T / 2⌋) / T⌋ does not change if ½ is added to the dividend. No quotient is then so near to a whole number
  // that rounding matters.
  const auto to_shares = [&](V32& of_valid, V32& of_measured, V32 total) HWY_ATTR {
    const F half = hn::Mul(to_float(hn::Or(total, hn::Set(D32(), 1))), hn::Set(f, 0.5f));
    const F inverse = hn::Div(hn::Set(f, 1), to_float(hn::Max(total, hn::Set(D32(), 1))));
    const auto share = [&](V32 sum) HWY_ATTR {
      return hn::ConvertTo(D32(), hn::Mul(hn::Add(hn::Mul(to_float(sum), hn::Set(f, 127)), half), inverse));
    };
    of_valid = share(of_valid), of_measured = share(of_measured);
  };
  Wide of_valid = promoted(valid), of_measured = promoted(measured);
  const Wide total = promoted(all);
  to_shares(of_valid.low, of_measured.low, total.low);
  to_shares(of_valid.high, of_measured.high, total.high);
  return {saturated(of_valid), saturated(of_measured)};
}

// Returns the agreements of the pixels from (x, y) on with the pixels at multiples of kStep.
template <int kStep, int kReach, int kTolerance>
HWY_INLINE Agreements agreements(const Evidence& e, int x, int y) {
  const hn::Repartition<std::uint8_t, D16> d8;
  alignas(16) static constexpr std::uint8_t weights[16] = {64, 32, 16, 8, 4, 2, 1};
  const auto table = hn::LoadDup128(d8, weights);
  const auto tolerance = hn::Set(DU16(), 2 * kTolerance);
  const V16 own_grey = load(e.grey.row(y) + x);
  const Wide lowest = each([](V32 q) HWY_ATTR { return hn::Sub(q, hn::Set(D32(), kTolerance)); }, load(e.q.row(y) + x));
  V16 valid = number(0), measured = valid, all = valid;
  for (int j = -kReach; j <= kReach; ++j) {
    const int other_y = y + kStep * j;
    if (other_y < 0 || other_y >= e.size.height) continue;
    const std::int32_t* const q = e.q.row(other_y) + x;
    const std::int16_t *const grey = e.grey.row(other_y) + x, *const is_measured = e.measured.row(other_y) + x,
                              *const inside = e.inside.row(0) + x;
    for (int i = -kStep * kReach; i <= kStep * kReach; i += kStep) {
      if (i == 0 && j == 0) continue;
      const V16 contrast = hn::Abs(hn::Sub(load(grey + i), own_grey));
      const V16 index = hn::Min(hn::ShiftRight<3>(contrast), number(6));
      // The weight is the lower byte. The other byte, and pixels outside the image, are masked.
      const V16 weight =
          hn::And(hn::BitCast(D16(), hn::TableLookupBytes(table, hn::BitCast(d8, index))), load(inside + i));
      const auto above = hn::BitCast(DU16(), saturated(difference(load(q + i), lowest)));
      const V16 agreeing = hn::IfThenElseZero(hn::RebindMask(D16(), hn::Eq(hn::Min(above, tolerance), above)), weight);
      all = hn::Add(all, weight);
      valid = hn::Add(valid, agreeing);
      measured = hn::Add(measured, hn::And(agreeing, load(is_measured + i)));
    }
  }
  return shares(valid, measured, all);
}

HWY_INLINE Wide whole_disparities(const Wide& q) {
  return each([](V32 v) HWY_ATTR { return hn::ShiftRight<4>(hn::Add(v, hn::Set(D32(), 8))); }, q);
}

// The right pixels at and around those that match pixels of a row, and Z. A block of many pixels is filled before its
// first vector is read: reading what was just written in smaller parts takes long.
class Matches {
 public:
  static constexpr int block = 64, reach = 2, bytes = 8;

  HWY_INLINE void fill(const Evidence& e, int first, int y) {
    const std::int32_t* const q = e.q.row(y) + first;
    const std::uint8_t* rows[2 * reach + 1];
    for (int j = -reach; j <= reach; ++j) rows[j + reach] = e.right.row(y + j) - 3;
    for (int p = 0; p < std::min(block, e.size.width - first); ++p) {
      const int column = std::clamp(first + p - whole(q[p]), -4, e.size.width + 3);
      for (int j = 0; j <= 2 * reach; ++j) std::memcpy(around_[j] + bytes / 2 * p, rows[j] + column, bytes);
      largest_[p] = e.largest.row(0)[column];
    }
  }
  HWY_INLINE Wide largest(int p) const { return load(largest_ + p); }
  // Sets `there` to the columns from −3 to 4 around the matches in row j.
  HWY_INLINE void row(int p, int j, V16 (&there)[bytes]) const {
    hn::VFromD<DU16> pairs[bytes / 2];
    hn::LoadInterleaved4(DU16(), around_[j + reach] + bytes / 2 * p, pairs[0], pairs[1], pairs[2], pairs[3]);
    for (int i = 0; i < bytes / 2; ++i) {
      there[2 * i] = hn::BitCast(D16(), hn::And(pairs[i], hn::Set(DU16(), 255)));
      there[2 * i + 1] = hn::BitCast(D16(), hn::ShiftRight<8>(pairs[i]));
    }
  }

 private:
  HWY_ALIGN std::uint16_t around_[2 * reach + 1][bytes / 2 * block];
  HWY_ALIGN std::int32_t largest_[block];
};

// Evidence that compares the grey images of both views.
struct Comparison {
  V16 difference, order, two_aside, one_aside;
};

HWY_INLINE Comparison comparison(const Evidence& e, const Matches& matches, int p, int x, int y) {
  V16 there[Matches::bytes];
  matches.row(p, 0, there);
  const V16 own_left = load(e.grey.row(y) + x), own_right = there[3];
  V16 sums[5] = {number(0), number(0), number(0), number(0), number(0)}, count = sums[0];
  for (int j = -2; j <= 2; ++j) {
    matches.row(p, j, there);
    for (int i = -2; i <= 2; ++i) {
      const V16 here = load(e.grey.row(y + j) + x + i);
      const auto differs = hn::Xor(hn::Lt(here, own_left), hn::Lt(there[i + 3], own_right));
      count = hn::Sub(count, hn::VecFromMask(D16(), differs));
      if (i * i > 1 || j * j > 1) continue;
      for (int k = -2; k <= 2; ++k) sums[k + 2] = hn::Add(sums[k + 2], hn::Abs(hn::Sub(here, there[i - k + 3])));
    }
  }
  const auto aside = [&](V16 a, V16 b) HWY_ATTR {
    return limited(hn::Add(number(64), hn::ShiftRight<2>(hn::Sub(hn::Min(a, b), sums[2]))));
  };
  return {hn::Min(hn::ShiftRight<2>(sums[2]), number(127)), hn::Mul(count, number(5)), aside(sums[4], sums[0]),
          aside(sums[3], sums[1])};
}

HWY_INLINE V16 texture(const Evidence& e, int x, int y) {
  V16 sum = number(0);
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) sum = hn::Add(sum, load(e.gradient.row(y + j) + x + i));
  return hn::Min(hn::ShiftRight<2>(sum), number(127));
}

// Returns a multiple of a number, limited to 0…127.
template <int kShift>
HWY_INLINE V16 limited_multiple(V16 v) {
  return limited(hn::ShiftLeft<kShift>(hn::Min(hn::Max(v, number(0)), number(128 >> kShift))));
}

HWY_INLINE V16 step_to(const std::int32_t* q, const Wide& own_q) {
  const auto step = [](V32 other, V32 own) HWY_ATTR {
    const V32 half = hn::ShiftRight<1>(hn::Sub(other, own)), none = hn::Set(D32(), nothing);
    return hn::Add(hn::Set(D32(), 64), hn::IfThenZeroElse(hn::Eq(other, none), half));
  };
  return limited(saturated(each(step, load(q), own_q)));
}

// Computes the evidence of the pixels from (x, y) on, which are those from p on in `matches`.
HWY_INLINE void evidence(const Evidence& e, const Matches& matches, int p, int x, int y) {
  const std::int32_t* const at = e.q.row(y) + x;
  const Wide q = load(at), d = whole_disparities(q);
  const auto is_valid = [](V32 v) HWY_ATTR { return hn::VecFromMask(D32(), hn::Ne(v, hn::Set(D32(), nothing))); };
  const V16 valid = saturated(each(is_valid, q));
  const auto write = [&](int group, V16 v0, V16 v1, V16 v2, V16 v3) HWY_ATTR {
    const auto two = [&](V16 a, V16 b)
                         HWY_ATTR { return hn::BitCast(DU16(), hn::And(valid, hn::Or(a, hn::ShiftLeft<8>(b)))); };
    hn::StoreInterleaved2(two(v0, v1), two(v2, v3), DU16(),
                          reinterpret_cast<std::uint16_t*>(e.groups + group * e.pitch + x));
  };
  const auto across = [&](int i) HWY_ATTR { return step_to(at + i, q); };
  const auto down = [&](int j) HWY_ATTR { return step_to(e.q.row(y + j) + x, q); };
  const Agreements near = agreements<1, 2, 16>(e, x, y), far = agreements<4, 3, 24>(e, x, y);
  const Comparison c = comparison(e, matches, p, x, y);
  const Wide columns = {hn::Iota(D32(), x), hn::Iota(D32(), x + static_cast<int>(hn::Lanes(D32())))};
  const V16 behind = saturated(difference(matches.largest(p), d)), right_column = saturated(difference(columns, d));
  write(0, hn::And(load(e.measured.row(y) + x), number(127)), near.valid, near.measured, far.valid);
  write(1, far.measured, c.difference, c.order, c.two_aside);
  write(2, c.one_aside, texture(e, x, y), limited_multiple<3>(behind), limited_multiple<2>(right_column));
  write(3, across(-3), across(3), across(-9), across(9));
  write(4, down(-3), down(3), down(-9), down(9));
  write(5, hn::ShiftRight<1>(load(e.grey.row(y) + x)), number(0), number(0), number(0));
}

// Computes the evidence of a row of pixels.
HWY_INLINE void evidence_row(const Evidence& e, int y) {
  fill_largest(y, e);
  Matches matches;
  for (int first = 0; first < e.size.width; first += Matches::block) {
    matches.fill(e, first, y);
    const int pixels = std::min(Matches::block, e.size.width - first);
    for (int p = 0; p < pixels; p += static_cast<int>(hn::Lanes(D16()))) evidence(e, matches, p, first + p, y);
  }
}

}  // namespace stereopsis::learned_confidence::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
