// Computes the mean disparity of the winner, and the moments of the plane around it. The file is included once for each
// SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_VOTE_FILL_CPU_MOMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_VOTE_FILL_CPU_MOMENTS_INL
#undef STEREOPSIS_VOTE_FILL_CPU_MOMENTS_INL
#else
#define STEREOPSIS_VOTE_FILL_CPU_MOMENTS_INL
#endif

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/lanes-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_count-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::vote_fill::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = stereopsis::HWY_NAMESPACE;

// Sums factors · weights · x, where the products factors · weights are below 2²⁴, and x is non-negative and below 2¹¹.
// The sum is exact, because the halves of the products are summed separately.
class Sum {
 public:
  HWY_INLINE Sum() : low_(hn::Zero(Tag())), high_(low_) {}
  HWY_INLINE void add(Signed32 product) {
    low_ = hn::Add(low_, hn::And(product, hn::Set(d_, 0x7FFF)));
    high_ = hn::Add(high_, hn::ShiftRight<15>(product));
  }
  HWY_INLINE void add(Signed32 product, Signed32 coordinate) {
    low_ = hn::Add(low_, hn::Mul(coordinate, hn::And(product, hn::Set(d_, 0x7FFF))));
    high_ = hn::Add(high_, hn::Mul(coordinate, hn::ShiftRight<15>(product)));
  }
  std::int64_t total() const {
    return hn::GetLane(hn::SumOfLanes(d_, low_)) +
           (static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(d_, high_))) << 15);
  }

 private:
  Tag d_;
  Signed32 low_, high_;
};

// Returns the mean disparity of the samples in three bins, in units of 1/256, rounded down.
inline int centre(const Samples& samples, const Factors& factors) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d)), origin = 256 * (factors.first - 1);
  auto weights = hn::Zero(d);
  Sum moment;
  for (int n = 0; n < samples.count; n += lanes) {
    const auto bin = hn::Load(d, samples.bin + n);
    const auto votes = hn::Lt(hn::Abs(hn::Sub(bin, hn::Set(d, factors.first + 1))), hn::Set(d, 2));
    const auto weight =
        hn::IfThenElseZero(votes, hn::Mul(hn::Load(d, samples.weight + n), factors_of<3>(factors, bin)));
    weights = hn::Add(weights, weight);
    moment.add(hn::Mul(weight, hn::Sub(hn::Load(d, samples.q + n), hn::Set(d, origin))));
  }
  return origin + static_cast<int>(moment.total() / hn::GetLane(hn::SumOfLanes(d, weights)));
}

inline Moments moments(const Samples& samples, const Factors& factors, int reach, int m) {
  const Tag d;
  const Unsigned du;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto one = hn::Zero(d), si = one, sj = one, sij = one;
  auto sii = hn::Zero(du), sjj = sii;
  Sum sq, siq, sjq;
  for (int n = 0; n < samples.count; n += lanes) {
    const auto dq = hn::Sub(hn::Load(d, samples.q + n), hn::Set(d, m)), vote = hn::Load(d, samples.votes + n);
    const auto counts = hn::Lt(hn::Abs(dq), hn::Set(d, 3 * 256 + 1));
    const auto weight = hn::IfThenElseZero(
        counts, hn::Mul(hn::Load(d, samples.weight + n), factors_of<7>(factors, hn::Load(d, samples.bin + n))));
    const auto i = hn::Sub(hn::And(vote, hn::Set(d, lanes_of_row - 1)), hn::Set(d, reach));
    const auto j = hn::Sub(hn::And(hn::ShiftRight<4>(vote), hn::Set(d, lanes_of_row - 1)), hn::Set(d, reach));
    const auto wi = hn::Mul(weight, i), wj = hn::Mul(weight, j), wq = hn::Mul(weight, dq);
    one = hn::Add(one, weight);
    si = hn::Add(si, wi);
    sj = hn::Add(sj, wj);
    sij = hn::Add(sij, hn::Mul(wi, j));
    sii = hn::Add(sii, hn::BitCast(du, hn::Mul(wi, i)));
    sjj = hn::Add(sjj, hn::BitCast(du, hn::Mul(wj, j)));
    sq.add(wq);
    siq.add(wq, i);
    sjq.add(wq, j);
  }
  const auto sum = [](auto tag, auto v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(tag, v)); };
  return {sum(d, one), sum(d, si), sum(d, sj),  sum(du, sii), sum(du, sjj),
          sum(d, sij), sq.total(), siq.total(), sjq.total()};
}

}  // namespace stereopsis::vote_fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
