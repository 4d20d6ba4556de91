// Computes V of bins, and finds the bin with the most votes. The file is included once for each SIMD target, hence the
// unusual include guard.
#if defined(STEREOPSIS_VOTE_FILL_CPU_COUNT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_VOTE_FILL_CPU_COUNT_INL
#undef STEREOPSIS_VOTE_FILL_CPU_COUNT_INL
#else
#define STEREOPSIS_VOTE_FILL_CPU_COUNT_INL
#endif

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/lanes-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::vote_fill::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = stereopsis::HWY_NAMESPACE;

// The data from which V of the bins around a pixel is computed.
struct Views {
  const Parameters& p;
  const float* right;
  int width, x;
};

// Returns V of the bins from `first` on.
HWY_INLINE Signed32 visibility_of(const Views& views, int first) {
  const Tag d;
  const hn::RebindToFloat<Tag> df;
  const int lanes = static_cast<int>(hn::Lanes(d)), last_there = views.x - first,
            first_there = last_there - (lanes - 1);
  auto there = hn::Zero(df);
  if (first_there >= 0 && last_there < views.width) {
    there = hn::Reverse(df, hn::LoadU(df, views.right + first_there));
  } else {
    alignas(64) float values[lanes_of_row];  // NaN stands for all reasons why a disparity is hidden
    for (int k = 0; k < lanes; ++k) {
      const int at = last_there - k;
      values[k] = at >= 0 && at < views.width ? views.right[at] : invalid_disparity;
    }
    there = hn::Load(df, values);
  }
  const auto bin = hn::ConvertTo(df, targeted::counted_from(d, first));
  const auto is_seen = hn::Le(hn::Abs(hn::Sub(there, bin)), hn::Set(df, 1));
  const auto is_impossible = hn::Lt(there, hn::Sub(bin, hn::Set(df, 1)));
  const auto unseen =
      hn::IfThenElse(hn::RebindMask(d, is_impossible), hn::Set(d, views.p.impossible), hn::Set(d, views.p.hidden));
  return hn::IfThenElse(hn::RebindMask(d, is_seen), hn::Set(d, views.p.seen), unseen);
}

inline Factors factors_from(const Views& views, int first) {
  const Tag d;
  Factors factors;
  factors.first = first;
  for (int n = 0; n < Factors::count; n += static_cast<int>(hn::Lanes(d)))
    hn::Store(visibility_of(views, first + n), d, factors.values + n);
  return factors;
}

// Returns V of the samples' bins. For bins that are not among the first `kMost` factors, V is arbitrary.
template <int kMost>
HWY_INLINE Signed32 factors_of(const Factors& factors, Signed32 bin) {
  const Tag d;
  const auto index = hn::And(hn::Sub(bin, hn::Set(d, factors.first)), hn::Set(d, 7));
  static_assert(kMost <= 8);
  if constexpr (hn::MaxLanes(d) >= 8)
    return hn::TableLookupLanes(hn::Load(d, factors.values), hn::IndicesFromVec(d, index));
  else
    return hn::GatherIndex(d, factors.values, index);
}

// Rounds `count` up to a multiple of the vector length.
HWY_INLINE int padded(int count) {
  const int lanes = static_cast<int>(hn::Lanes(Tag()));
  return (count + lanes - 1) / lanes * lanes;
}

// Counts the votes of the bins [first − 1, first + used], and finds the winner among the inner bins.
inline void count_piece(const Samples& samples, const Views& views, int first, int used, Votes& votes) {
  const Tag d;
  const Unsigned du;
  const int lanes = static_cast<int>(hn::Lanes(d)), counted = used + 2, end = padded(counted);
  // Votes for other bins go to an additional entry after the counted bins.
  for (int n = 0; n < samples.count; n += lanes) {
    const auto index = hn::BitCast(du, hn::Sub(hn::Load(d, samples.bin + n), hn::Set(d, first - 1)));
    hn::Store(hn::BitCast(d, hn::Min(index, hn::Set(du, static_cast<std::uint32_t>(end)))), d, votes.index + n);
  }
  for (int n = 0; n < samples.count; n += Votes::tables)
    for (int k = 0; k < Votes::tables; ++k)
      votes.votes[k][votes.index[n + k]] += static_cast<std::uint32_t>(samples.weight[n + k]);

  // All tables are 0 between two calls. Each entry is cleared where it is read last.
  std::uint32_t* const sums = votes.votes[0];
  auto all = hn::Zero(du);
  for (int n = 0; n < end; n += lanes) {
    auto sum = hn::Load(du, sums + n);
    for (int k = 1; k < Votes::tables; ++k) {
      sum = hn::Add(sum, hn::Load(du, votes.votes[k] + n));
      hn::Store(hn::Zero(du), du, votes.votes[k] + n);
    }
    sum = hn::Mul(sum, hn::BitCast(du, visibility_of(views, first - 1 + n)));
    hn::Store(sum, du, sums + n);
    all = hn::Add(all, sum);
  }
  for (auto& table : votes.votes) hn::Store(hn::Zero(du), du, table + end);
  votes.all += hn::GetLane(hn::SumOfLanes(du, all)) - sums[0] - sums[used + 1];
  for (int n = 0; n < used; n += lanes) {
    const auto supported = hn::Add(hn::Add(hn::LoadU(du, sums + n + 1), hn::LoadU(du, sums + n + 1)),
                                   hn::Add(hn::LoadU(du, sums + n), hn::LoadU(du, sums + n + 2)));
    const auto inside = hn::FirstN(du, static_cast<std::size_t>(used - n));
    hn::Store(hn::Zero(du), du, sums + n);
    const std::uint32_t most = hn::GetLane(hn::MaxOfLanes(du, hn::IfThenElseZero(inside, supported)));
    if (most <= votes.most) continue;
    votes.most = most;
    votes.best = first + n + static_cast<int>(hn::FindFirstTrue(du, hn::Eq(supported, hn::Set(du, most))));
  }
  hn::Store(hn::Zero(du), du, sums + end - lanes);
}

// Counts all votes. Returns whether there is a winner.
inline bool count(const Samples& samples, const Views& views, Votes& votes) {
  votes.most = votes.all = 0;
  for (int first = samples.low; first <= samples.high; first += Votes::bins)
    count_piece(samples, views, first, std::min(Votes::bins, samples.high - first + 1), votes);
  return votes.most > 0;
}

}  // namespace stereopsis::vote_fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
