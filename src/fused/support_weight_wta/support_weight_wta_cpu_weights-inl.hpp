// Weights of a window, by colour and distance.
// Included once per SIMD target, hence the unusual guard.
#if defined(STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_WEIGHTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_WEIGHTS_INL
#undef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_WEIGHTS_INL
#else
#define STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_WEIGHTS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "fused/support_weight_wta/support_weight_wta_cpu_costs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 8-bit weights of the pixels p + (dx, dy) for the pixels p of a row, from x = `first` on; `table` in 32 bits.
class WindowWeigher {
 public:
  WindowWeigher(double gamma_colour, double gamma_distance)
      : scales_(support_weight::scales(gamma_colour, gamma_distance)) {
    const auto table = support_weight::make_table();
    for (int i = 0; i < 256; ++i) table_[i] = support_weight::in_8_bits(table.of[i]);
  }

  // `other` is the row of q.
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
      hn::StoreU(hn::DemoteTo(narrow, weights(load(row + x), load(other + x + dx), part)), narrow, out + x);
    }
    for (; x < width; ++x) scalar(x);
  }

 private:
  HWY_INLINE hn::Vec<I32> weights(hn::Vec<I32> p, hn::Vec<I32> q, int part) const {
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
    const auto sum = hn::Add(hn::Mul(distance, hn::Set(d, scales_.colour)), hn::Set(d, part + 32768));
    return hn::GatherIndex(d, table_.data(), hn::Min(hn::ShiftRight<16>(sum), hn::Set(d, 255)));
  }

  const support_weight::Scales scales_;
  std::array<std::int32_t, 256> table_;
};

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
