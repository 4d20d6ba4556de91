// Adds the term of a pixel's seed to its costs, for CPU engines. The file is included once for each SIMD target, hence
// the unusual include guard.
#if defined(STEREOPSIS_SEEDS_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SEEDS_CPU_INL
#undef STEREOPSIS_SEEDS_CPU_INL
#else
#define STEREOPSIS_SEEDS_CPU_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "device/cpu/highway-inl.hpp"
#include "stages/seeds/seeds.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::seeds::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The term of one pixel. Away from the seed it is constant, and near it at most 9 candidates have less.
class Term {
 public:
  Term(const Parameters& p, std::uint32_t prior)
      : product_(p.weight * static_cast<int>(prior & 255)),
        value_(static_cast<int>(prior >> 8)),
        most_(product_ * width / 16384) {}

  bool is_zero() const { return most_ == 0; }

  // Adds the term to the costs of `count` candidates.
  HWY_INLINE void add(std::uint8_t* costs, int count) const {
    const int first = std::min(std::max(0, (value_ - width) / 16), count);
    const int end = std::max(first, std::min(count, (value_ + width) / 16 + 1));
    add_most(costs, first);
    for (int k = first; k < end; ++k) {
      const int term = product_ * std::min(std::abs(16 * k - value_), width) / 16384;
      costs[k] = sum(costs[k], term);
    }
    add_most(costs + end, count - end);
  }

 private:
  static std::uint8_t sum(int cost, int term) {
    return static_cast<std::uint8_t>(std::max(cost, std::min(cost + term, most_sum)));
  }
  HWY_INLINE void add_most(std::uint8_t* costs, int count) const {
    const hn::ScalableTag<std::uint8_t> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto most = hn::Set(d, static_cast<std::uint8_t>(most_));
    int k = 0;
    const auto limit = hn::Set(d, static_cast<std::uint8_t>(most_sum));
    for (; k + lanes <= count; k += lanes) {
      const auto cost = hn::LoadU(d, costs + k);
      hn::StoreU(hn::Max(cost, hn::Min(hn::SaturatedAdd(cost, most), limit)), d, costs + k);
    }
    for (; k < count; ++k) costs[k] = sum(costs[k], most_);
  }

  const int product_, value_, most_;
};

}  // namespace stereopsis::seeds::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
