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

// The weights of a pixel's samples, row by row, and the squares of their distances in steps; nothing behind a row's
// last.
struct Pattern {
  explicit Pattern(const Parameters& p) {
    const Weights table = weights(p);
    std::copy(table.colour.begin(), table.colour.end(), colour);
    for (int j = -p.reach; j <= p.reach; ++j)
      for (int i = -p.reach; i < lanes_of_row - p.reach; ++i) {
        const int at = (j + p.reach) * lanes_of_row + i + p.reach;
        space[at] = i > p.reach ? 0 : table.distance[std::abs(j) * (largest_reach + 1) + std::abs(i)];
        square[at] = i > p.reach ? std::numeric_limits<std::int32_t>::max() : i * i + j * j;
        place[at] = at;
      }
  }

  alignas(64) std::uint32_t colour[256];
  alignas(64) std::uint32_t space[most_samples];
  alignas(64) std::int32_t square[most_samples];
  alignas(64) std::int32_t place[most_samples];
};

// The samples of a pixel whose weight is not 0.
struct Samples {
  int count = 0;
  int nearest = std::numeric_limits<int>::max();  // the square of its distance in steps
  int low = 0, high = 0;                          // of q
  alignas(64) std::int32_t q[most_samples + 64];
  alignas(64) std::int32_t weight[most_samples + 64];
  alignas(64) std::int32_t place[most_samples + 64];
};

// V of seven whole disparities.
struct Factors {
  int first;
  std::int32_t values[7];
};

}  // namespace stereopsis::vote_fill
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::vote_fill::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = stereopsis::HWY_NAMESPACE;

void gather(const Rows& rows, const Pattern& pattern, int x, int y, int height, Samples& samples) {
  const hn::CappedTag<std::int32_t, lanes_of_row> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto own = hn::BitCast(d8, hn::Set(du, rows.colours[rows.at(x, y)]));
  const auto none = hn::Set(d, nothing);
  auto nearest = hn::Set(d, std::numeric_limits<std::int32_t>::max()), low = nearest, high = none;
  samples.count = 0;
  for (int j = -rows.reach; j <= rows.reach; ++j) {
    const int v = y + rows.step * j;
    if (v < 0 || v >= height) continue;
    const std::ptrdiff_t first = rows.first_sample(x, v);
    for (int lane = 0; lane <= 2 * rows.reach; lane += lanes) {
      const int at = (j + rows.reach) * lanes_of_row + lane;
      const auto q = hn::LoadU(d, rows.q + first + lane);
      const auto valid = hn::Ne(q, none);
      if (hn::AllFalse(d, valid)) continue;
      const auto square = hn::Load(d, pattern.square + at);
      nearest = hn::Min(nearest, hn::IfThenElse(valid, square, nearest));
      const auto colour = hn::BitCast(d8, hn::LoadU(du, rows.colours + first + lane));
      const auto difference = hn::Or(hn::SaturatedSub(colour, own), hn::SaturatedSub(own, colour));
      const auto pairs = hn::BitCast(du, targeted::sums_of_pairs(d8, difference));
      const auto sum = hn::Add(hn::And(pairs, hn::Set(du, 0xFFFF)), hn::ShiftRight<16>(pairs));
      const auto index = hn::BitCast(d, hn::Min(sum, hn::Set(du, 255)));
      const auto product = hn::Mul(hn::GatherIndex(du, pattern.colour, index), hn::Load(du, pattern.space + at));
      const auto weight = hn::BitCast(d, hn::ShiftRight<16>(product));
      const auto counts = hn::And(valid, hn::Gt(weight, hn::Zero(d)));
      low = hn::Min(low, hn::IfThenElse(counts, q, low));
      high = hn::Max(high, hn::IfThenElse(counts, q, high));
      // In registers: some processors take a hundred cycles to compress into memory.
      hn::StoreU(hn::Compress(q, counts), d, samples.q + samples.count);
      hn::StoreU(hn::Compress(weight, counts), d, samples.weight + samples.count);
      hn::StoreU(hn::Compress(hn::Load(d, pattern.place + at), counts), d, samples.place + samples.count);
      samples.count += static_cast<int>(hn::CountTrue(d, counts));
    }
  }
  samples.nearest = hn::GetLane(hn::MinOfLanes(d, nearest));
  samples.low = hn::GetLane(hn::MinOfLanes(d, low));
  samples.high = hn::GetLane(hn::MaxOfLanes(d, high));
}

// Products and sums stay below 2⁵³, so that they are exact in 64-bit floats.
void add_moments(const Samples& samples, const Factors& factors, int reach, int m, double* sums) {
  const hn::CappedTag<double, lanes_of_row> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  hn::Vec<decltype(d)> sum[9];
  for (auto& one : sum) one = hn::Zero(d);
  for (int n = 0; n < samples.count; n += lanes) {
    const auto q = hn::LoadU(d32, samples.q + n), dq = hn::Sub(q, hn::Set(d32, m));
    const auto counts =
        hn::And(hn::Lt(hn::Abs(dq), hn::Set(d32, 3 * 256 + 1)), hn::Lt(hn::Iota(d32, n), hn::Set(d32, samples.count)));
    const auto bin = hn::ShiftRight<8>(hn::Add(q, hn::Set(d32, 128)));
    const auto index = hn::IfThenElse(counts, hn::Sub(bin, hn::Set(d32, factors.first)), hn::Zero(d32));
    const auto weight32 = hn::Mul(hn::LoadU(d32, samples.weight + n), hn::GatherIndex(d32, factors.values, index));
    const auto weight = hn::PromoteTo(d, hn::IfThenElseZero(counts, weight32));
    const auto place = hn::IfThenElseZero(counts, hn::LoadU(d32, samples.place + n));
    const auto coordinate = [&](auto v) HWY_ATTR { return hn::PromoteTo(d, hn::Sub(v, hn::Set(d32, reach))); };
    const auto i = coordinate(hn::And(place, hn::Set(d32, lanes_of_row - 1)));
    const auto j = coordinate(hn::ShiftRight<4>(place));
    const auto difference = hn::PromoteTo(d, hn::IfThenElseZero(counts, dq));
    const auto wi = hn::Mul(weight, i), wj = hn::Mul(weight, j);
    sum[0] = hn::Add(sum[0], weight);
    sum[1] = hn::Add(sum[1], wi);
    sum[2] = hn::Add(sum[2], wj);
    sum[3] = hn::Add(sum[3], hn::Mul(wi, i));
    sum[4] = hn::Add(sum[4], hn::Mul(wj, j));
    sum[5] = hn::Add(sum[5], hn::Mul(wi, j));
    sum[6] = hn::Add(sum[6], hn::Mul(weight, difference));
    sum[7] = hn::Add(sum[7], hn::Mul(wi, difference));
    sum[8] = hn::Add(sum[8], hn::Mul(wj, difference));
  }
  for (int k = 0; k < 9; ++k) sums[k] = hn::GetLane(hn::SumOfLanes(d, sum[k]));
}

}  // namespace stereopsis::vote_fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::vote_fill {

HWY_EXPORT(gather);
HWY_EXPORT(add_moments);

namespace {

bool to_be_filled(const Map& map, int x, int y) {
  return std::isnan(map.disparity(x, y)) && (map.validity(x, y) & (validity::masked | validity::outside)) == 0;
}

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
  const int channels = image.channels, middle = std::min(1, channels - 1), last = channels - 1;
  const std::uint8_t* pixel = image.row(y);
  const float* here = disparity.row(y);
  for (int rest = 0; rest < std::min(rows.step, disparity.width); ++rest) {
    std::ptrdiff_t at = rows.at(rest, y);
    for (int x = rest; x < disparity.width; x += rows.step, ++at) {
      const std::uint8_t* const c = pixel + static_cast<std::ptrdiff_t>(x) * channels;
      rows.q[at] = in_256ths(here[x]);
      rows.colours[at] = c[0] | c[middle] << 8 | static_cast<std::uint32_t>(c[last]) << 16;
    }
  }
}

// H of the bins first − 1 … first + bins, for the winner among the bins between; a wide range is looked at piece by
// piece.
class Votes {
 public:
  Votes(const Parameters& p, ImageView<const float> right, int x, int y) : p_(p), right_(right), x_(x), y_(y) {}

  int visibility_of(int b) const {
    return b > x_ || x_ - b >= right_.width ? p_.hidden : visibility(p_, right_(x_ - b, y_), b);
  }

  // Whether there is a winner.
  bool count(const Samples& samples) {
    const int high = whole(samples.high);
    for (int first = whole(samples.low); first <= high; first += bins) count_piece(samples, first, high);
    return most > 0;
  }

  std::uint32_t most = 0, all = 0;
  int best = 0;

 private:
  void count_piece(const Samples& samples, int first, int high) {
    const int used = std::min(bins, high - first + 1);
    std::fill_n(votes_, used + 2, 0);
    for (int n = 0; n < samples.count; ++n) {
      const auto bin = static_cast<unsigned>(whole(samples.q[n]) - first + 1);
      if (bin < static_cast<unsigned>(used + 2)) votes_[bin] += static_cast<std::uint32_t>(samples.weight[n]);
    }
    for (int bin = 0; bin < used + 2; ++bin)
      if (votes_[bin] != 0) votes_[bin] *= static_cast<std::uint32_t>(visibility_of(first - 1 + bin));
    for (int bin = 1; bin <= used; ++bin) {
      if (votes_[bin] == 0) continue;  // its better neighbour has as many votes, or more
      all += votes_[bin];
      const std::uint32_t supported = 2 * votes_[bin] + votes_[bin - 1] + votes_[bin + 1];
      if (supported <= most) continue;
      most = supported;
      best = first - 1 + bin;
    }
  }

  static constexpr int bins = 1022;
  const Parameters& p_;
  ImageView<const float> right_;
  int x_, y_;
  std::uint32_t votes_[bins + 2];
};

// The centre, in 1/256, of what the winner's voters say.
int centre(const Samples& samples, const Votes& votes) {
  const int low = votes.best - 1;
  int factors[3];
  for (int k = 0; k < 3; ++k) factors[k] = votes.visibility_of(low + k);
  std::int64_t weight = 0, moment = 0;
  for (int n = 0; n < samples.count; ++n) {
    const auto k = static_cast<unsigned>(whole(samples.q[n]) - low);
    if (k > 2) continue;
    const std::int64_t w = static_cast<std::int64_t>(samples.weight[n]) * factors[k];
    weight += w;
    moment += w * (samples.q[n] - 256 * (low - 1));
  }
  return 256 * (low - 1) + static_cast<int>(moment / weight);
}

Moments moments(const Samples& samples, const Votes& votes, int reach, int m) {
  Factors factors{whole(m - 3 * 256), {}};
  for (int k = 0; k < 7; ++k) factors.values[k] = votes.visibility_of(factors.first + k);
  double sums[9];
  HWY_DYNAMIC_DISPATCH(add_moments)(samples, factors, reach, m, sums);
  const auto sum = [&](int k) { return static_cast<std::int64_t>(sums[k]); };
  return {sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), sum(6), sum(7), sum(8)};
}

void fill_pixel(const Parameters& p, const Input& in, const Map& map, const Samples& samples, int x, int y) {
  if (samples.count == 0 || p.step * p.step * static_cast<std::int64_t>(samples.nearest) > p.distance * p.distance)
    return;
  Votes votes(p, in.right, x, y);
  if (!votes.count(samples)) return;
  const int m = centre(samples, votes);
  map.disparity(x, y) = plane_at_centre(moments(samples, votes, p.reach, m), m, added_variance(p));
  map.validity(x, y) = static_cast<std::uint8_t>((map.validity(x, y) & ~validity::reasons) | validity::filled);
  if (!map.confidence.empty())
    map.confidence(x, y) =
        static_cast<float>(votes.most) / static_cast<float>(4 * static_cast<std::int64_t>(votes.all));
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
    Samples samples;
    for (int y = first; y < last; ++y)
      for (int x = 0; x < size.width; ++x) {
        if (!to_be_filled(map, x, y)) continue;
        HWY_DYNAMIC_DISPATCH(gather)(rows, pattern, x, y, size.height, samples);
        fill_pixel(p, in, map, samples, x, y);
      }
  });
}

}  // namespace stereopsis::vote_fill
#endif
