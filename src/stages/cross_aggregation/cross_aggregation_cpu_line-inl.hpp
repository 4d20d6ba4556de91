// Sums of bytes along the lines of one disparity, included once per SIMD target by cross_aggregation_cpu.cpp.
//
// A line is a row or a column whose pixels are adjacent in memory. Its running sums, modulo 2¹⁶, are kept in a buffer.
// On AVX-512, the sums at the ends of the arms are looked up in registers, for 32 pixels at a time. On other targets,
// they are loaded one by one, which is faster than gathering there.
#if defined(STEREOPSIS_CROSS_AGGREGATION_LINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_CROSS_AGGREGATION_LINE_INL
#undef STEREOPSIS_CROSS_AGGREGATION_LINE_INL
#else
#define STEREOPSIS_CROSS_AGGREGATION_LINE_INL
#endif

#include "device/cpu/highway-inl.hpp"
#include "stages/cross_aggregation/cross_aggregation_cpu.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::cross_aggregation::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U16 = hn::CappedTag<std::uint16_t, most_lanes>;
using U8 = hn::Rebind<std::uint8_t, U16>;
using Words = hn::Vec<U16>;

// Returns the common arms of the pixels from i on.
HWY_INLINE Words arm(const Line& line, Arm which, int i) {
  const U8 d;
  return hn::PromoteTo(U16(), hn::Min(hn::LoadU(d, line.left[which] + i), hn::LoadU(d, line.right[which] + i)));
}
HWY_INLINE Words pixels_across(const Line& line, int i) {
  return hn::Add(hn::Add(arm(line, across_before, i), arm(line, across_behind, i)), hn::Set(U16(), 1));
}

// Returns the quotient, rounded down. The values are below 2²⁴, so that the quotient of floats is never rounded up to
// an integer.
template <class V>
HWY_INLINE V mean(V sum, V count) {
  const hn::DFromV<V> d;
  const hn::RebindToFloat<decltype(d)> df;
  const hn::RebindToSigned<decltype(d)> di;
  const auto real = [&](V v) { return hn::ConvertTo(df, hn::BitCast(di, v)); };
  const V rounded = hn::Add(sum, hn::ShiftRight<1>(count));
  return hn::BitCast(d, hn::ConvertTo(di, hn::Div(real(rounded), real(count))));
}

#if HWY_TARGET <= HWY_AVX3

// GCC 12 warns that the functions without masks use variables without a value.
constexpr __mmask32 every_lane = ~__mmask32{0};
constexpr __mmask16 every_word = static_cast<__mmask16>(~0);

template <int lanes>
HWY_INLINE Words shifted_by_words(Words v) {
  return Words{_mm512_maskz_alignr_epi32(every_word, v.raw, _mm512_setzero_si512(), 16 - lanes / 2)};
}

HWY_INLINE Words running_sums(Words v) {
  v = hn::Add(v, hn::ShiftLeftLanes<1>(v));
  v = hn::Add(v, hn::ShiftLeftLanes<2>(v));
  v = hn::Add(v, hn::ShiftLeftLanes<4>(v));
  const auto totals = hn::Broadcast<7>(v);
  const auto two_totals = hn::Add(totals, shifted_by_words<8>(totals));
  return hn::Add(v, hn::Add(shifted_by_words<8>(two_totals), shifted_by_words<24>(totals)));
}

// Stores the sum of the values before each pixel of the line, and the sum of all values behind the last one.
template <class ValuesAt>
HWY_INLINE void store_running_sums(int pixels, std::uint16_t* running, ValuesAt&& values_at) {
  const U16 d;
  const auto last = _mm512_set1_epi16(most_lanes - 1);
  auto before = hn::Zero(d);
  for (int i = 0; i <= pixels; i += most_lanes) {
    const auto values = values_at(i);
    const auto sums = hn::Add(running_sums(values), before);
    hn::Store(hn::Sub(sums, values), d, running + i);
    before = Words{_mm512_maskz_permutexvar_epi16(every_lane, last, sums.raw)};
  }
}

// The ends of the arms of 32 pixels, as places in a number of registers. A table is a pair of registers.
class Ends {
 public:
  HWY_INLINE Ends(const Line& line, int i) : tables_(line.tables), i_(i) {
    const U16 d;
    const auto lane = hn::Iota(d, 0);
    first_ = hn::Sub(hn::Add(lane, hn::Set(d, static_cast<std::uint16_t>(behind_first()))), arm(line, before, i));
    last_ = hn::Add(hn::Add(lane, hn::Set(d, 1)), arm(line, behind, i));
  }

  // Returns the sums between the ends.
  HWY_INLINE Words between(const std::uint16_t* running) const {
    return hn::Sub(look_up(running + i_, last_), look_up(running + i_ - behind_first(), first_));
  }

 private:
  int behind_first() const { return most_lanes * (2 * tables_ - 1); }

  HWY_INLINE Words look_up(const std::uint16_t* from, Words place) const {
    const U16 d;
    auto found = look_up_one(from, place);
    for (int t = 1; t < tables_; ++t)
      found = hn::IfThenElse(hn::Lt(place, hn::Set(d, static_cast<std::uint16_t>(2 * most_lanes * t))), found,
                             look_up_one(from + 2 * most_lanes * t, place));
    return found;
  }
  HWY_INLINE static Words look_up_one(const std::uint16_t* from, Words place) {
    const U16 d;
    return Words{_mm512_permutex2var_epi16(hn::Load(d, from).raw, place.raw, hn::Load(d, from + most_lanes).raw)};
  }

  int tables_, i_;
  Words first_, last_;
};

HWY_INLINE Words load_bytes(const std::uint8_t* from) { return hn::PromoteTo(U16(), hn::LoadU(U8(), from)); }
HWY_INLINE void store_bytes(Words v, std::uint8_t* to) {
  hn::StoreU(hn::Vec<U8>{_mm512_maskz_cvtepi16_epi8(every_lane, v.raw)}, U8(), to);
}

// Sums the costs over the arms along the line.
HWY_INLINE void sum_costs(const Line& line, const std::uint8_t* costs, const Buffers& b, std::uint8_t* low,
                          std::uint8_t* high) {
  store_running_sums(line.pixels, b.running(0), [&](int i) { return load_bytes(costs + i); });
  for (int i = 0; i < line.pixels; i += most_lanes) {
    const auto sums = Ends(line, i).between(b.running(0));
    store_bytes(sums, low + i);
    store_bytes(hn::ShiftRight<8>(sums), high + i);
  }
}

// Sums the sums over the arms along the line, and divides by the number of pixels.
HWY_INLINE void average(const Line& line, const std::uint8_t* low, const std::uint8_t* high, const Buffers& b,
                        std::uint8_t* means) {
  const U16 d;
  const hn::Repartition<std::uint32_t, U16> d32;
  store_running_sums(line.pixels, b.running(0), [&](int i) { return load_bytes(low + i); });
  store_running_sums(line.pixels, b.running(1), [&](int i) { return load_bytes(high + i); });
  store_running_sums(line.pixels, b.running(2), [&](int i) { return pixels_across(line, i); });
  for (int i = 0; i < line.pixels; i += most_lanes) {
    const Ends ends(line, i);
    const auto lows = ends.between(b.running(0)), highs = ends.between(b.running(1)),
               counts = ends.between(b.running(2));
    const auto zero = hn::Zero(d);
    const auto lower = mean(hn::Add(hn::ZipLower(d32, lows, zero), hn::ShiftLeft<8>(hn::ZipLower(d32, highs, zero))),
                            hn::ZipLower(d32, counts, zero));
    const auto upper = mean(hn::Add(hn::ZipUpper(d32, lows, zero), hn::ShiftLeft<8>(hn::ZipUpper(d32, highs, zero))),
                            hn::ZipUpper(d32, counts, zero));
    store_bytes(Words{_mm512_packus_epi32(lower.raw, upper.raw)}, means + i);
  }
}

#else

HWY_INLINE void store_arms(const Line& line, std::uint8_t* arms_before, std::uint8_t* arms_behind) {
  const hn::CappedTag<std::uint8_t, most_lanes> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto store = [&](Arm which, int i, std::uint8_t* to) {
    hn::StoreU(hn::Min(hn::LoadU(d, line.left[which] + i), hn::LoadU(d, line.right[which] + i)), d, to + i);
  };
  for (int i = 0; i < line.pixels; i += lanes) {
    store(before, i, arms_before);
    store(behind, i, arms_behind);
  }
}

HWY_INLINE void sum_costs(const Line& line, const std::uint8_t* costs, const Buffers& b, std::uint8_t* low,
                          std::uint8_t* high) {
  std::uint16_t* const running = b.running(0);
  std::uint8_t *const arms_before = b.bytes(0), *const arms_behind = b.bytes(1);
  store_arms(line, arms_before, arms_behind);
  running[0] = 0;
  for (int i = 0; i < line.pixels; ++i) running[i + 1] = static_cast<std::uint16_t>(running[i] + costs[i]);
  for (int i = 0; i < line.pixels; ++i) {
    const int sum = running[i + 1 + arms_behind[i]] - running[i - arms_before[i]];
    low[i] = static_cast<std::uint8_t>(sum);
    high[i] = static_cast<std::uint8_t>(sum >> 8);
  }
}

// A running sum and the number of its pixels are one word of 64 bits.
HWY_INLINE void average(const Line& line, const std::uint8_t* low, const std::uint8_t* high, const Buffers& b,
                        std::uint8_t* means) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  std::uint64_t* const running = b.pairs();
  std::uint8_t *const arms_before = b.bytes(0), *const arms_behind = b.bytes(1);
  std::uint32_t *const sums = b.words(0), *const counts = b.words(1);
  for (int i = 0; i < line.pixels; i += static_cast<int>(hn::Lanes(U16())))
    hn::StoreU(pixels_across(line, i), U16(), b.running(0) + i);
  store_arms(line, arms_before, arms_behind);
  running[0] = 0;
  for (int i = 0; i < line.pixels; ++i)
    running[i + 1] = running[i] + (low[i] + 256u * high[i] + (std::uint64_t{b.running(0)[i]} << 32));
  for (int i = 0; i < line.pixels; ++i) {
    const std::uint64_t pair = running[i + 1 + arms_behind[i]] - running[i - arms_before[i]];
    sums[i] = static_cast<std::uint32_t>(pair);
    counts[i] = static_cast<std::uint32_t>(pair >> 32);
  }
  for (int i = 0; i < line.pixels; i += static_cast<int>(hn::Lanes(d))) {
    const auto means_here = hn::BitCast(di, mean(hn::LoadU(d, sums + i), hn::LoadU(d, counts + i)));
    hn::StoreU(hn::DemoteTo(d8, means_here), d8, means + i);
  }
}

#endif

}  // namespace stereopsis::cross_aggregation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
