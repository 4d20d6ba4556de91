// Aggregation by asw-separable, first horizontal, then vertical: processes a set of disparities down the image. The
// file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SEPARABLE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SEPARABLE_INL
#undef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SEPARABLE_INL
#else
#define STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SEPARABLE_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "device/cpu/highway-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_costs-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_job.hpp"
#include "stages/support_weight/support_weight_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline void weigh_taps(const asw_separable::Parameters& p, const Job& job, int y) {
  const support_weight::HWY_NAMESPACE::WindowWeigher weigher(p.gamma_colour, p.gamma_distance);
  const auto& lab = job.in.lab_left;
  const int radius = p.window / 2;
  for (int tap = 0; tap < p.window; ++tap) {
    const int i = tap - radius;
    const std::size_t row = (static_cast<std::size_t>(y) * p.window + tap) * job.width;
    weigher.run(lab.row(y), lab.row(y), job.width, i, 4 * std::abs(i), job.taps[0] + row);
    weigher.run(lab.row(y), lab.row(std::clamp(y + i, 0, job.height - 1)), job.width, 0, 4 * std::abs(i),
                job.taps[1] + row);
  }
}

class SeparableSlab {
 public:
  SeparableSlab(const Job& job, const SeparableScratch& scratch, const Candidates& candidates)
      : job_(job), scratch_(scratch), candidates_(candidates), taps_(2 * scratch.radius + 1) {}

  void run(int first) {
    first_ = first;
    count_ = std::min(job_.slab, job_.disparities - first);
    const int last = job_.height - 1, radius = scratch_.radius;
    for (int y = 0; y <= last; ++y) {
      add_horizontally(y);
      const int to = y < last ? y - radius : last;
      for (int done = std::max(0, y < last ? to : last - radius); done <= to; ++done) add_vertically(done);
    }
  }

 private:
  void add_horizontally(int y) {
    load_right(job_, y, first_, count_, candidates_.words);
    load_weights(job_.taps[0], y);
    const Rows sums = scratch_.horizontal.slot(y);
    for (int k = 0; k < count_; ++k) {
      std::uint16_t* row = scratch_.input[k];
      make_costs(job_, candidates_.words, y, first_, count_, first_ + k, 7, row);
      pad(row, job_.width, scratch_.radius, scratch_.radius + 1);
      const std::uint16_t* window = row - scratch_.radius;
      average_row(
          [&](int pair, int x, V16& even, V16& odd) HWY_ATTR {
            const D16 d;
            even = hn::LoadU(d, window + x + 2 * pair);
            odd = hn::LoadU(d, window + x + 2 * pair + 1);
          },
          sums[k]);
    }
  }

  void add_vertically(int y) {
    load_weights(job_.taps[1], y);
    const Rows out = job_.volume_row(y, first_);
    const std::uint16_t* rows[64];
    for (int k = 0; k < count_; ++k) {
      for (int tap = 0; tap < taps_; ++tap)
        rows[tap] = scratch_.horizontal.slot(std::clamp(y + tap - scratch_.radius, 0, job_.height - 1))[k];
      rows[taps_] = rows[taps_ - 1];  // the last pair may have one tap too many, which has no weight
      average_row(
          [&](int pair, int x, V16& even, V16& odd) HWY_ATTR {
            const D16 d;
            const D32 d32;
            const auto a = hn::LoadU(d, rows[2 * pair] + x), b = hn::LoadU(d, rows[2 * pair + 1] + x);
            even = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, b))), a);
            odd = hn::OddEven(b, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, a))));
          },
          out[k]);
    }
  }

  // Loads weights in pairs of taps, and computes the sums of the weights.
  void load_weights(const std::uint8_t* plane, int y) const {
    const D16 d;
    const D32 d32;
    const hn::Rebind<std::uint8_t, D16> d8;
    const std::uint8_t* rows = plane + static_cast<std::size_t>(y) * taps_ * job_.width;
    std::uint8_t tail[hn::MaxLanes(D16())];
    for (int x = 0; x < job_.width; x += lanes16()) {
      auto even_total = hn::Zero(d32), odd_total = hn::Zero(d32);
      const auto load = [&](int tap) HWY_ATTR {
        if (tap == taps_) return hn::Zero(d);
        const std::uint8_t* row = rows + static_cast<std::size_t>(tap) * job_.width + x;
        if (x + lanes16() <= job_.width) return hn::PromoteTo(d, hn::LoadU(d8, row));
        std::fill_n(std::copy_n(row, job_.width - x, tail), lanes16() - (job_.width - x), std::uint8_t{1});
        return hn::PromoteTo(d, hn::LoadU(d8, tail));
      };
      for (int tap = 0; tap < taps_; tap += 2) {
        const auto a = load(tap), b = load(tap + 1);
        const auto even = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, b))), a);
        const auto odd = hn::OddEven(b, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, a))));
        hn::StoreU(even, d, scratch_.pairs[tap] + x);
        hn::StoreU(odd, d, scratch_.pairs[tap + 1] + x);
        even_total = hn::Add(even_total, both(even));
        odd_total = hn::Add(odd_total, both(odd));
      }
      store_total(0, x, even_total);
      store_total(1, x, odd_total);
    }
  }
  static HWY_INLINE V32 both(V16 pair) {
    const D32 d32;
    const auto wide = hn::BitCast(d32, pair);
    return hn::Add(hn::And(wide, hn::Set(d32, 65535)), hn::ShiftRight<16>(wide));
  }
  void store_total(int parity, int x, V32 total) const {
    const I32 d;
    const F32 f;
    hn::StoreU(hn::BitCast(d, total), d, this->total(parity) + x / 2);
    hn::StoreU(hn::Div(hn::Set(f, 1.0f), hn::ConvertTo(f, hn::BitCast(d, total))), f, inverse(parity) + x / 2);
  }
  std::int32_t* total(int parity) const { return reinterpret_cast<std::int32_t*>(scratch_.totals[parity]); }
  float* inverse(int parity) const { return reinterpret_cast<float*>(scratch_.inverses[2 * parity]); }

  // Returns ⌊(sum + ⌊total / 2⌋) / total⌋. The quotient in floats is off by at most one.
  HWY_INLINE V32 quotient(hn::Vec<I32> sum, int parity, int x) const {
    const I32 d;
    const F32 f;
    const auto divisor = hn::LoadU(d, total(parity) + x / 2);
    const auto dividend = hn::Add(sum, hn::ShiftRight<1>(divisor));
    const auto q = hn::ConvertTo(d, hn::Mul(hn::ConvertTo(f, dividend), hn::LoadU(f, inverse(parity) + x / 2)));
    const auto left_over = hn::Sub(dividend, hn::Mul(q, divisor));
    const auto too_large = hn::VecFromMask(d, hn::Lt(left_over, hn::Zero(d)));
    const auto too_small = hn::IfThenZeroElse(hn::Lt(left_over, divisor), hn::Set(d, 1));
    return hn::BitCast(D32(), hn::Add(hn::Add(q, too_large), too_small));
  }

  // The function load(pair, x, even, odd) returns the costs of two taps, for the even and for the odd pixels.
  template <class Load>
  HWY_INLINE void average_row(Load&& load, std::uint16_t* out) const {
    const D16 d;
    const I16 i16;
    const I32 i32;
    for (int x = 0; x < job_.width; x += lanes16()) {
      auto even0 = hn::Zero(i32), even1 = hn::Zero(i32), odd0 = hn::Zero(i32), odd1 = hn::Zero(i32);
      for (int pair = 0; 2 * pair < taps_; ++pair) {
        V16 even, odd;
        load(pair, x, even, odd);
        const auto add = [&](V16 costs, int row, auto& sum0, auto& sum1) HWY_ATTR {
          const auto weights = hn::LoadU(i16, reinterpret_cast<const std::int16_t*>(scratch_.pairs[row] + x));
          sum0 = hn::ReorderWidenMulAccumulate(i32, hn::BitCast(i16, costs), weights, sum0, sum1);
        };
        add(even, 2 * pair, even0, even1);
        add(odd, 2 * pair + 1, odd0, odd1);
      }
      const auto even = quotient(hn::RearrangeToOddPlusEven(even0, even1), 0, x);
      const auto odd = quotient(hn::RearrangeToOddPlusEven(odd0, odd1), 1, x);
      hn::StoreU(hn::BitCast(d, hn::Or(even, hn::ShiftLeft<16>(odd))), d, out + x);
    }
  }

  const Job& job_;
  const SeparableScratch& scratch_;
  const Candidates& candidates_;
  const int taps_;
  int first_ = 0, count_ = 0;
};

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
