#include "stages/vote_fill/vote_fill.hpp"

#include <algorithm>

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/vote_fill/vote_fill_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/lanes-inl.hpp"

#ifndef STEREOPSIS_VOTE_FILL_ROWS
#define STEREOPSIS_VOTE_FILL_ROWS
namespace stereopsis::vote_fill {

constexpr int lanes_of_row = 16;  // a row of samples, with the lanes behind its last
constexpr int most_samples = largest_side * lanes_of_row;

// The pixels that may vote. In a row, those whose columns leave the same rest when divided by the step lie side by
// side, so that the samples of a pixel's row do; before and behind them there is room for samples outside the image.
struct Rows {
  static constexpr std::uint32_t no_vote =
      0xFF000000;  // the colour of those that may not vote, with which none has a weight

  Rows(const Parameters& p, Size size, std::byte* memory)
      : step(p.step),
        reach(p.reach),
        room((size.width + p.step - 1) / p.step + largest_reach + lanes_of_row),
        q(reinterpret_cast<std::int32_t*>(memory)),
        colours(reinterpret_cast<std::uint32_t*>(memory) + static_cast<std::size_t>(pitch()) * size.height) {}

  std::ptrdiff_t pitch() const { return static_cast<std::ptrdiff_t>(step) * room; }
  // Where the samples of the pixel begin, as far to its left as they reach.
  std::ptrdiff_t first_sample(int x, int y) const { return y * pitch() + x % step * room + x / step; }
  std::ptrdiff_t at(int x, int y) const { return first_sample(x, y) + reach; }

  int step, reach;
  std::ptrdiff_t room;
  std::int32_t* q;
  std::uint32_t* colours;
};

// The weights of a pixel's samples, row by row; nothing behind a row's last.
struct Pattern {
  explicit Pattern(const Parameters& p) {
    const Weights table = weights(p);
    std::copy(table.colour.begin(), table.colour.end(), colour);
    for (int j = -p.reach; j <= p.reach; ++j)
      for (int i = -p.reach; i < lanes_of_row - p.reach; ++i) {
        const int at = (j + p.reach) * lanes_of_row + i + p.reach;
        space[at] = i > p.reach ? 0 : table.distance[std::abs(j) * (largest_reach + 1) + std::abs(i)];
        near[at] = i > p.reach || p.step * p.step * (i * i + j * j) > p.distance * p.distance ? 0 : -1;
        place[at] = at;
      }
    near_rows = std::min(p.reach, p.distance / p.step);
    short_colour = std::all_of(colour + 127, colour + 256, [](std::uint32_t w) { return w == 0; });
  }

  alignas(64) std::uint32_t colour[256];
  bool short_colour;  // nothing from 127 on
  alignas(64) std::uint32_t space[most_samples];
  alignas(64) std::int32_t near[most_samples];  // whether the distance allows to fill
  int near_rows;
  alignas(64) std::uint32_t place[most_samples];
};

// The samples of a pixel whose weight is not 0. Behind the last there are more, up to a whole vector, of weight 0.
struct Samples {
  static constexpr int place_bits = 8;

  int count = 0;
  int low = 0, high = 0;  // bins
  alignas(64) std::int32_t q[most_samples + 64];
  alignas(64) std::int32_t votes[most_samples + 64];  // weight · 2⁸ + place
  alignas(64) std::int32_t bin[most_samples + 64];
  alignas(64) std::int32_t weight[most_samples + 64];
};

// V of bins side by side, from `first` on.
struct Factors {
  static constexpr int count = lanes_of_row;
  int first;
  alignas(64) std::int32_t values[count];
};

// H of the bins first − 1 … first + bins, for the winner among the bins between; a wide range is looked at piece by
// piece.
struct Votes {
  static constexpr int bins = 1022, tables = 4;

  std::uint32_t most, all;
  int best;
  alignas(64) std::int32_t index[most_samples + 64];  // of a sample's bin
  // Each of four samples has a table of its own, so that none waits for what the one before it has written.
  alignas(64) std::uint32_t votes[tables][bins + 2 + 2 * lanes_of_row];
};

// For each set of eight lanes, the lanes in it, a byte each.
struct LanesOfSets {
  constexpr LanesOfSets() {
    for (unsigned set = 0; set < 256; ++set)
      for (unsigned lane = 0, n = 0; lane < 8; ++lane)
        if ((set >> lane & 1) != 0) bytes[set][n++] = static_cast<std::uint8_t>(lane);
  }
  std::uint8_t bytes[256][8] = {};
};
inline constexpr LanesOfSets lanes_of_sets;

// What is worked with, for a pixel after the other.
struct Work {
  Samples samples;
  Votes votes;
};

}  // namespace stereopsis::vote_fill
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::vote_fill::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = stereopsis::HWY_NAMESPACE;

// One row of samples, or what of it a vector holds.
using Tag = hn::CappedTag<std::int32_t, lanes_of_row>;
using Unsigned = hn::RebindToUnsigned<Tag>;
using Signed32 = hn::Vec<Tag>;
using Unsigned32 = hn::Vec<Unsigned>;

bool has_near_vote(const Rows& rows, const Pattern& pattern, int x, int y, int height) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::int32_t* const q = rows.q + rows.first_sample(x, y);
  for (int j = 0; j <= pattern.near_rows; ++j)
    for (int side = -1; side <= 1; side += 2) {
      const int down = side * rows.step * j;
      if (y + down < 0 || y + down >= height) continue;
      for (int lane = 0; lane <= 2 * rows.reach; lane += lanes) {
        const auto near = hn::Load(d, pattern.near + (j + rows.reach) * lanes_of_row + lane);
        const auto valid = hn::Ne(hn::LoadU(d, q + down * rows.pitch() + lane), hn::Set(d, nothing));
        if (!hn::AllFalse(d, hn::And(valid, hn::Ne(near, hn::Zero(d))))) return true;
      }
    }
  return false;
}

// Looks up weights of colour. Where registers hold the table, that is faster than to gather from memory.
class ColourWeights {
 public:
#if HWY_TARGET <= HWY_AVX3
  explicit ColourWeights(const Pattern& pattern) : is_short_(pattern.short_colour) {
    alignas(64) std::uint16_t table[256];
    std::copy_n(pattern.colour, 256, table);
    for (int k = 0; k < 8; ++k) table_[k] = _mm512_load_si512(table + 32 * k);
  }
  HWY_INLINE Unsigned32 of(Unsigned32 difference) const {
    const Unsigned d;
    if (is_short_) return lower_half(hn::Min(difference, hn::Set(d, 127)));
    const auto index = hn::Min(difference, hn::Set(d, 255));
    return hn::IfThenElse(hn::Gt(index, hn::Set(d, 127)), half(index, 4), lower_half(index));
  }

 private:
  HWY_INLINE Unsigned32 quarter(Unsigned32 index, int k) const {
    return Unsigned32{_mm512_permutex2var_epi16(table_[k], index.raw, table_[k + 1])};
  }
  HWY_INLINE Unsigned32 half(Unsigned32 index, int k) const {
    const Unsigned d;
    return hn::IfThenElse(hn::TestBit(index, hn::Set(d, 64)), quarter(index, k + 2), quarter(index, k));
  }
  HWY_INLINE Unsigned32 lower_half(Unsigned32 index) const { return half(index, 0); }

  bool is_short_;
  __m512i table_[8];
#else
  explicit ColourWeights(const Pattern& pattern) : table_(pattern.colour) {}
  HWY_INLINE Unsigned32 of(Unsigned32 difference) const {
    const Unsigned d;
    return hn::GatherIndex(d, table_, hn::BitCast(Tag(), hn::Min(difference, hn::Set(d, 255))));
  }

 private:
  const std::uint32_t* table_;
#endif
};

HWY_INLINE Unsigned32 sum_of_bytes(Unsigned32 v) {
  const Unsigned d;
  const hn::Repartition<std::uint8_t, Unsigned> d8;
  const auto pairs = hn::BitCast(d, targeted::sums_of_pairs(d8, hn::BitCast(d8, v)));
  return hn::Add(hn::And(pairs, hn::Set(d, 0xFFFF)), hn::ShiftRight<16>(pairs));
}

// Moves the lanes of a mask to the front. Highway's Compress is one instruction of AVX-512; for less it has tables that
// compilers copy each time.
class Compression {
 public:
  using Mask = hn::Mask<Tag>;
#if HWY_TARGET <= HWY_AVX3 || !HWY_ARCH_X86
  HWY_INLINE explicit Compression(Mask mask) : mask_(mask) {}
  HWY_INLINE Signed32 operator()(Signed32 v) const { return hn::Compress(v, mask_); }

 private:
  Mask mask_;
#else
  using Indices = decltype(hn::IndicesFromVec(Tag(), Signed32()));
  HWY_INLINE explicit Compression(Mask mask) : indices_(indices(mask)) {}
  HWY_INLINE Signed32 operator()(Signed32 v) const { return hn::TableLookupLanes(v, indices_); }

 private:
  HWY_INLINE static Indices indices(Mask mask) {
    const Tag d;
    const hn::Rebind<std::uint8_t, Tag> d8;
    std::uint8_t set[8] = {};
    hn::StoreMaskBits(d, mask, set);
    return hn::IndicesFromVec(d, hn::PromoteTo(d, hn::LoadU(d8, lanes_of_sets.bytes[set[0]])));
  }
  Indices indices_;
#endif
};

void gather(const Rows& rows, const Pattern& pattern, const ColourWeights& colours, int x, int y, int height,
            Samples& samples) {
  const Tag d;
  const Unsigned du;
  const hn::Repartition<std::uint8_t, Tag> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto own = hn::BitCast(d8, hn::Set(du, rows.colours[rows.at(x, y)] & ~Rows::no_vote));
  const std::ptrdiff_t first_here = rows.first_sample(x, y);
  int count = 0;
  for (int j = -rows.reach; j <= rows.reach; ++j) {
    const int down = rows.step * j;
    if (y + down < 0 || y + down >= height) continue;
    const std::ptrdiff_t first = first_here + down * rows.pitch();
    for (int lane = 0; lane <= 2 * rows.reach; lane += lanes) {
      const int at = (j + rows.reach) * lanes_of_row + lane;
      const auto colour = hn::BitCast(d8, hn::LoadU(du, rows.colours + first + lane));
      const auto difference = hn::Or(hn::SaturatedSub(colour, own), hn::SaturatedSub(own, colour));
      const auto by_colour = colours.of(sum_of_bytes(hn::BitCast(du, difference)));
      const hn::Repartition<std::uint16_t, Tag> d16;
      const auto weight =
          hn::BitCast(du, hn::MulHigh(hn::BitCast(d16, by_colour), hn::BitCast(d16, hn::Load(du, pattern.space + at))));
      const auto counts = hn::Ne(weight, hn::Zero(du));
      const auto vote =
          hn::BitCast(d, hn::Or(hn::ShiftLeft<Samples::place_bits>(weight), hn::Load(du, pattern.place + at)));
      // In registers: some processors take a hundred cycles to compress into memory.
      const Compression compress(hn::RebindMask(d, counts));
      hn::StoreU(compress(hn::LoadU(d, rows.q + first + lane)), d, samples.q + count);
      hn::StoreU(compress(vote), d, samples.votes + count);
      count += static_cast<int>(hn::CountTrue(du, counts));
    }
  }
  samples.count = count;
}

// Fills up the last vector, and takes disparities to whole ones.
void find_bins(Samples& samples) {
  const Tag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  hn::StoreU(hn::Set(d, samples.q[0]), d, samples.q + samples.count);
  hn::StoreU(hn::Zero(d), d, samples.votes + samples.count);
  auto low = hn::Set(d, std::numeric_limits<std::int32_t>::max()), high = hn::Set(d, nothing);
  for (int n = 0; n < samples.count; n += lanes) {
    const auto bin = hn::ShiftRight<8>(hn::Add(hn::Load(d, samples.q + n), hn::Set(d, 128)));
    hn::Store(bin, d, samples.bin + n);
    hn::Store(hn::ShiftRight<Samples::place_bits>(hn::Load(d, samples.votes + n)), d, samples.weight + n);
    low = hn::Min(low, bin);
    high = hn::Max(high, bin);
  }
  samples.low = hn::GetLane(hn::MinOfLanes(d, low));
  samples.high = hn::GetLane(hn::MaxOfLanes(d, high));
}

// The sum of factors · weights, which are below 2²⁴, and x, below 2¹¹ and not negative; exact, as the halves of the
// products are added up apart.
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

// What V of the bins around a pixel is asked for.
struct Views {
  const Parameters& p;
  const float* right;
  int width, x;
};

// V of the bins from `first` on.
HWY_INLINE Signed32 visibility_of(const Views& views, int first) {
  const Tag d;
  const hn::RebindToFloat<Tag> df;
  const int lanes = static_cast<int>(hn::Lanes(d)), last_there = views.x - first,
            first_there = last_there - (lanes - 1);
  auto there = hn::Zero(df);
  if (first_there >= 0 && last_there < views.width) {
    there = hn::Reverse(df, hn::LoadU(df, views.right + first_there));
  } else {
    alignas(64) float values[lanes_of_row];  // NaN is what hidden bins have in common
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

Factors factors_from(const Views& views, int first) {
  const Tag d;
  Factors factors;
  factors.first = first;
  for (int n = 0; n < Factors::count; n += static_cast<int>(hn::Lanes(d)))
    hn::Store(visibility_of(views, first + n), d, factors.values + n);
  return factors;
}

// V of the samples' bins. What it is of those that are not among the factors' first `kMost` does not matter.
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

// Whole vectors that hold `count` elements.
HWY_INLINE int padded(int count) {
  const int lanes = static_cast<int>(hn::Lanes(Tag()));
  return (count + lanes - 1) / lanes * lanes;
}

// Counts the votes of the bins [first − 1, first + used], for the winner among those between.
void count_piece(const Samples& samples, const Views& views, int first, int used, Votes& votes) {
  const Tag d;
  const Unsigned du;
  const int lanes = static_cast<int>(hn::Lanes(d)), counted = used + 2, end = padded(counted);
  // What is not counted goes to a place behind those that are.
  for (int n = 0; n < samples.count; n += lanes) {
    const auto index = hn::BitCast(du, hn::Sub(hn::Load(d, samples.bin + n), hn::Set(d, first - 1)));
    hn::Store(hn::BitCast(d, hn::Min(index, hn::Set(du, static_cast<std::uint32_t>(end)))), d, votes.index + n);
  }
  for (auto& table : votes.votes)
    for (int n = 0; n <= end; n += lanes) hn::Store(hn::Zero(du), du, table + n);
  for (int n = 0; n < samples.count; n += Votes::tables)
    for (int k = 0; k < Votes::tables; ++k)
      votes.votes[k][votes.index[n + k]] += static_cast<std::uint32_t>(samples.weight[n + k]);

  std::uint32_t* const sums = votes.votes[0];
  auto all = hn::Zero(du);
  for (int n = 0; n < end; n += lanes) {
    auto sum = hn::Load(du, sums + n);
    for (int k = 1; k < Votes::tables; ++k) sum = hn::Add(sum, hn::Load(du, votes.votes[k] + n));
    sum = hn::Mul(sum, hn::BitCast(du, visibility_of(views, first - 1 + n)));
    hn::Store(sum, du, sums + n);
    all = hn::Add(all, sum);
  }
  hn::Store(hn::Zero(du), du, sums + end);
  votes.all += hn::GetLane(hn::SumOfLanes(du, all)) - sums[0] - sums[used + 1];
  for (int n = 0; n < used; n += lanes) {
    const auto supported = hn::Add(hn::Add(hn::LoadU(du, sums + n + 1), hn::LoadU(du, sums + n + 1)),
                                   hn::Add(hn::LoadU(du, sums + n), hn::LoadU(du, sums + n + 2)));
    const auto inside = hn::FirstN(du, static_cast<std::size_t>(used - n));
    const std::uint32_t most = hn::GetLane(hn::MaxOfLanes(du, hn::IfThenElseZero(inside, supported)));
    if (most <= votes.most) continue;
    votes.most = most;
    votes.best = first + n + static_cast<int>(hn::FindFirstTrue(du, hn::Eq(supported, hn::Set(du, most))));
  }
}

// Whether there is a winner.
bool count(const Samples& samples, const Views& views, Votes& votes) {
  votes.most = votes.all = 0;
  for (int first = samples.low; first <= samples.high; first += Votes::bins)
    count_piece(samples, views, first, std::min(Votes::bins, samples.high - first + 1), votes);
  return votes.most > 0;
}

// The mean, in 1/256, of what the voters of three bins say, rounded down.
int centre(const Samples& samples, const Factors& factors) {
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

Moments moments(const Samples& samples, const Factors& factors, int reach, int m) {
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

void fill_row(const Parameters& p, const Input& in, const Map& map, const Rows& rows, const Pattern& pattern, int y,
              Work& work) {
  const ColourWeights colours(pattern);
  const float variance = added_variance(p);
  Samples& samples = work.samples;
  Votes& votes = work.votes;
  float* const disparity = map.disparity.row(y);
  std::uint8_t* const reasons = map.validity.row(y);
  for (int x = 0; x < map.disparity.width; ++x) {
    if (!std::isnan(disparity[x]) || (reasons[x] & (validity::masked | validity::outside)) != 0) continue;
    if (!has_near_vote(rows, pattern, x, y, map.disparity.height)) continue;
    gather(rows, pattern, colours, x, y, map.disparity.height, samples);
    if (samples.count == 0) continue;
    find_bins(samples);
    const Views views{p, in.right.row(y), in.right.width, x};
    if (!count(samples, views, votes)) continue;
    const int m = centre(samples, factors_from(views, votes.best - 1));
    const Moments sums = moments(samples, factors_from(views, whole(m - 3 * 256)), p.reach, m);
    disparity[x] = plane_at_centre(sums, m, variance);
    reasons[x] = static_cast<std::uint8_t>((reasons[x] & ~validity::reasons) | validity::filled);
    if (!map.confidence.empty())
      map.confidence(x, y) =
          static_cast<float>(votes.most) / static_cast<float>(4 * static_cast<std::int64_t>(votes.all));
  }
}

}  // namespace stereopsis::vote_fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::vote_fill {

HWY_EXPORT(fill_row);

namespace {

void reject(const Parameters& p, const Map& map, int y) {
  const auto limit = static_cast<float>(p.reject);
  for (int x = 0; x < map.disparity.width; ++x) {
    if (std::isnan(map.disparity(x, y)) || !(map.confidence(x, y) < limit)) continue;
    map.disparity(x, y) = invalid_disparity;
    map.validity(x, y) |= validity::ambiguous;
  }
}

void clear_confidence(const Map& map, int y) {
  for (int x = 0; x < map.confidence.width; ++x)
    if (std::isnan(map.disparity(x, y))) map.confidence(x, y) = 0;
}

void write_rows(const Rows& rows, ImageView<const std::uint8_t> image, ImageView<const float> disparity, int y) {
  std::fill_n(rows.q + y * rows.pitch(), rows.pitch(), nothing);
  std::fill_n(rows.colours + y * rows.pitch(), rows.pitch(), Rows::no_vote);
  const int channels = image.channels, middle = std::min(1, channels - 1), last = channels - 1;
  const std::uint8_t* pixel = image.row(y);
  const float* here = disparity.row(y);
  for (int rest = 0; rest < std::min(rows.step, disparity.width); ++rest) {
    std::ptrdiff_t at = rows.at(rest, y);
    for (int x = rest; x < disparity.width; x += rows.step, ++at) {
      const std::uint8_t* const c = pixel + static_cast<std::ptrdiff_t>(x) * channels;
      rows.q[at] = in_256ths(here[x]);
      rows.colours[at] = c[0] | c[middle] << 8 | static_cast<std::uint32_t>(c[last]) << 16 |
                         (rows.q[at] == nothing ? Rows::no_vote : 0);
    }
  }
}

}  // namespace

std::size_t scratch_bytes(const Parameters& p, Size size) {
  return (sizeof(std::int32_t) + sizeof(std::uint32_t)) * Rows(p, size, nullptr).pitch() * size.height;
}

void cpu(const Parameters& p, const Input& in, const Map& map, std::span<std::byte> scratch, Threads& threads) {
  check_images(p, in, map);
  const Size size = map.disparity.size();
  if (scratch.size() < scratch_bytes(p, size))
    throw Error(ErrorCategory::call, text("vote_fill was given ", scratch.size(), " bytes of scratch memory and needs ",
                                          scratch_bytes(p, size), "; ask scratch_bytes() for them"));
  const Rows rows(p, size, scratch.data());
  threads.rows(size.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      if (p.reject > 0) reject(p, map, y);
      clear_confidence(map, y);
      write_rows(rows, in.image, map.disparity, y);
    }
  });
  const Pattern pattern(p);
  threads.rows(size.height, [&](int first, int last) {
    Work work;
    for (int y = first; y < last; ++y) HWY_DYNAMIC_DISPATCH(fill_row)(p, in, map, rows, pattern, y, work);
  });
}

}  // namespace stereopsis::vote_fill
#endif
