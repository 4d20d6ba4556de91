// Weights of a window that depend on colour and distance, and weighted averages of costs, for the CPU stages with
// support weights. The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_SUPPORT_WEIGHT_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUPPORT_WEIGHT_CPU_INL
#undef STEREOPSIS_SUPPORT_WEIGHT_CPU_INL
#else
#define STEREOPSIS_SUPPORT_WEIGHT_CPU_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include "device/cpu/lanes-inl.hpp"
#include "device/cpu/quotient-inl.hpp"
#include "stages/support_weight/support_weight.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

using I32 = hn::ScalableTag<std::int32_t>;
using F32 = hn::ScalableTag<float>;

// Returns the table entries for the L*a*b* words p and q. `distance_part` is the contribution of their distance.
HWY_INLINE hn::Vec<I32> table_weights(const support_weight::Scales& scales, int distance_part,
                                      const std::int32_t* table, hn::Vec<I32> p, hn::Vec<I32> q) {
  const I32 d;
  const F32 f;
  auto squares = hn::Zero(d);
  for (int i = 0; i < 3; ++i) {
    const auto apart = hn::Sub(hn::And(p, hn::Set(d, 1023)), hn::And(q, hn::Set(d, 1023)));
    squares = hn::Add(squares, hn::Mul(apart, apart));
    p = hn::ShiftRight<10>(p);
    q = hn::ShiftRight<10>(q);
  }
  const auto distance = hn::ConvertTo(d, hn::Sqrt(hn::ConvertTo(f, squares)));
  const auto sum = hn::Add(hn::Mul(distance, hn::Set(d, scales.colour)), hn::Set(d, distance_part + 32768));
  return hn::GatherIndex(d, table, hn::Min(hn::ShiftRight<16>(sum), hn::Set(d, 255)));
}

// Computes the 8-bit weights of the pixels p + (dx, dy), for the pixels p of a row from x = `first` on. `table` has
// entries of 32 bits.
class WindowWeigher {
 public:
  WindowWeigher(double gamma_colour, double gamma_distance)
      : scales_(support_weight::scales(gamma_colour, gamma_distance)) {
    const auto table = support_weight::make_table();
    for (int i = 0; i < 256; ++i) table_[i] = support_weight::in_8_bits(table.of[i]);
  }

  // `other` is the row of the pixels p + (dx, dy).
  template <class T>
  void run(const std::uint32_t* row, const std::uint32_t* other, int width, int dx, int quarters, T* out) const {
    const I32 d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const int part = support_weight::distance_part(scales_, quarters);
    const auto scalar = [&](int x) {
      const int distance = support_weight::colour_distance(row[x], other[std::clamp(x + dx, 0, width - 1)]);
      out[x] = static_cast<T>(table_[support_weight::exponent(scales_, distance, part)]);
    };
    const int first = std::min(std::max(0, -dx), width), last = std::max(first, std::min(width, width - dx));
    int x = 0;
    for (; x < first; ++x) scalar(x);
    for (; x + lanes <= last; x += lanes) {
      const hn::Rebind<T, I32> narrow;
      const auto load = [&](const std::uint32_t* p)
                            HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const std::int32_t*>(p)); };
      hn::StoreU(hn::DemoteTo(narrow, table_weights(scales_, part, table_.data(), load(row + x), load(other + x + dx))),
                 narrow, out + x);
    }
    for (; x < width; ++x) scalar(x);
  }

 private:
  const support_weight::Scales scales_;
  std::array<std::int32_t, 256> table_;
};

// The weighted averages, for each disparity of a pixel, of the costs over the `taps` pixels of a window: ⌊(Σ w c + ⌊Σ w
// / 2⌋) / Σ w⌋. If T has 8 bits, c is in units of 1/128. Weights and costs fit in 15 bits, and sums fit in 31 bits.
template <class T>
class CellAverage {
 public:
  explicit CellAverage(int taps) : taps_(taps) { std::fill_n(weights_, most_taps + 1, std::int16_t{0}); }

  void set(int tap, int weight, const T* cells) {
    weights_[tap] = static_cast<std::int16_t>(weight);
    cells_[tap] = cells;
    if (tap == taps_ - 1) cells_[taps_] = cells;  // the last pair may have one tap too many, which has no weight
  }

  void run(int count, std::uint16_t* out) const {
    std::int32_t total = 0;
    std::int32_t pairs[(most_taps + 1) / 2];
    for (int i = 0; i < taps_; i += 2) {
      total += weights_[i] + weights_[i + 1];
      pairs[i / 2] = weights_[i] | weights_[i + 1] << 16;
    }
    const auto scalar = [&](int k) {
      std::int32_t sum = total / 2;
      for (int i = 0; i < taps_; ++i) sum += weights_[i] * unit * cells_[i][k];
      out[k] = static_cast<std::uint16_t>(sum / total);
    };
    for_each_block(
        D16(), 0, count, [&](int k) HWY_ATTR { hn::StoreU(average(pairs, total, k), D16(), out + k); }, scalar);
  }

 private:
  static constexpr int most_taps = 63, unit = sizeof(T) == 1 ? 128 : 1;
  using D16 = hn::ScalableTag<std::uint16_t>;
  using D32 = hn::RepartitionToWide<D16>;

  static HWY_INLINE hn::Vec<D16> load(const T* cells) {
    const D16 d;
    if constexpr (sizeof(T) == 1)
      return hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, D16>(), cells)));
    else
      return hn::LoadU(d, cells);
  }

  // Averages the even and the odd disparities separately, two taps at a time.
  HWY_INLINE hn::Vec<D16> average(const std::int32_t* pairs, std::int32_t total, int k) const {
    const D16 d;
    const D32 d32;
    const hn::RebindToSigned<D16> i16;
    const I32 i32;
    auto even0 = hn::Zero(i32), even1 = hn::Zero(i32), odd0 = hn::Zero(i32), odd1 = hn::Zero(i32);
    for (int i = 0; i < taps_; i += 2) {
      const auto a = load(cells_[i] + k), b = load(cells_[i + 1] + k);
      const auto even = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, b))), a);
      const auto odd = hn::OddEven(b, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, a))));
      const auto weights = hn::BitCast(i16, hn::Set(i32, pairs[i / 2]));
      even0 = hn::ReorderWidenMulAccumulate(i32, hn::BitCast(i16, even), weights, even0, even1);
      odd0 = hn::ReorderWidenMulAccumulate(i32, hn::BitCast(i16, odd), weights, odd0, odd1);
    }
    const auto half = hn::Set(i32, total / 2);
    const auto even = quotient(i32, hn::Add(hn::RearrangeToOddPlusEven(even0, even1), half), total);
    const auto odd = quotient(i32, hn::Add(hn::RearrangeToOddPlusEven(odd0, odd1), half), total);
    return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<16>(odd)));
  }

  const int taps_;
  std::int16_t weights_[most_taps + 1];
  const T* cells_[most_taps + 1];
};

}  // namespace stereopsis::support_weight::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
