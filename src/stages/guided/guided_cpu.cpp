#include "stages/guided/guided.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/guided/guided_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

#ifndef STEREOPSIS_GUIDED_CPU
#define STEREOPSIS_GUIDED_CPU
namespace stereopsis::guided {

// The lanes of a vector hold disparities. `most_lanes` is the largest number of lanes of all targets.
inline constexpr int most_lanes = 16;

// A task computes some rows of the result, for one vector of disparities after the other.
struct Task {
  Parameters p;
  ImageView<const std::uint8_t> guide;
  VolumeView<const std::uint8_t> costs;
  Rows rows;  // rows of the complete result
  VolumeView<float> filtered;
  ImageView<const float> statistics;  // statistics of the rows `with_statistics`, stored as channels
  Rows with_statistics;
};

// The memory of one thread. Cells are vectors, one for each sum.
struct Scratch {
  std::int32_t* columns;       // sums of the costs, and sums of the guide times the costs: (x, sum, lane)
  std::int32_t* ring;          // coefficients a and b in the last 2r + 1 rows: (row, x, coefficient, lane)
  std::int32_t* coefficients;  // sums of the coefficients over those rows: (x, coefficient, lane)
};

// Return the first and the last row or column of a window that lie in the image.
inline int window_first(int i, int radius) { return std::max(i - radius, 0); }
inline int window_last(int i, int radius, int size) { return std::min(i + radius, size - 1); }

}  // namespace stereopsis::guided
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::guided::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, most_lanes>;
using Integers = hn::RebindToSigned<Floats>;
using F = hn::VFromD<Floats>;
using I = hn::VFromD<Integers>;

// Number of sums of the guide and of its products, for several columns at once: 9 with colour, 2 with grey.
template <int channels>
inline constexpr int guide_sums = channels + channels*(channels + 1) / 2;

inline F divide(F a, F b) { return hn::Div(a, b); }

// Computes the statistics of a vector of windows from their sums: see guided.hpp.
template <int channels>
HWY_INLINE void window_statistics(const I* sums, F n, float epsilon, F* out) {
  const Floats df;
  const Integers di;
  const F one = hn::Set(df, 1.0f);
  const F share = divide(one, n);
  const I count = hn::ConvertTo(di, n);
  I m[channels], e[channels];
  F delta[channels];
  for (int c = 0; c < channels; ++c) {
    m[c] = hn::NearestInt(hn::Mul(hn::ConvertTo(df, sums[c]), share));
    e[c] = hn::Sub(sums[c], hn::Mul(count, m[c]));
    delta[c] = hn::Mul(hn::ConvertTo(df, e[c]), share);
    out[c] = hn::ConvertTo(df, m[c]);
    out[channels + c] = delta[c];
    out[2 * channels + c] = hn::Add(out[c], delta[c]);
  }
  const F flat = hn::Mul(n, hn::Set(df, epsilon));
  const auto covariance = [&](int c, int d, int index) HWY_ATTR {
    const I first = hn::Sub(sums[channels + index], hn::Mul(m[c], sums[d]));
    const I centred = hn::Add(hn::Sub(first, hn::Mul(m[d], sums[c])), hn::Mul(count, hn::Mul(m[c], m[d])));
    const F result = hn::Sub(hn::ConvertTo(df, centred), hn::Mul(delta[c], hn::ConvertTo(df, e[d])));
    return c == d ? hn::Add(result, flat) : result;
  };
  F* const k = out + 3 * channels;
  if constexpr (channels == 1) {
    k[0] = divide(one, covariance(0, 0, 0));
    k[1] = share;
  } else {
    const F c11 = covariance(0, 0, 0), c12 = covariance(0, 1, 1), c13 = covariance(0, 2, 2), c22 = covariance(1, 1, 3),
            c23 = covariance(1, 2, 4), c33 = covariance(2, 2, 5);
    const F l21 = divide(c12, c11), l31 = divide(c13, c11);
    const F d2 = hn::Sub(c22, hn::Mul(l21, c12));
    const F l32 = divide(hn::Sub(c23, hn::Mul(l31, c12)), d2);
    const F d3 = hn::Sub(hn::Sub(c33, hn::Mul(l31, c13)), hn::Mul(l32, hn::Mul(l32, d2)));
    const F i1 = divide(one, c11), i2 = divide(one, d2), i3 = divide(one, d3);
    const F u31 = hn::Sub(hn::Mul(l21, l32), l31);
    const F k33 = i3;
    const F k23 = hn::Neg(hn::Mul(l32, i3));
    const F k13 = hn::Mul(u31, i3);
    const F k22 = hn::Sub(i2, hn::Mul(l32, k23));
    const F k12 = hn::Sub(hn::Mul(u31, k23), hn::Mul(l21, i2));
    const F k11 = hn::Add(hn::Add(i1, hn::Mul(l21, hn::Mul(l21, i2))), hn::Mul(u31, k13));
    const F all[] = {k11, k12, k13, k22, k23, k33, share};
    for (int i = 0; i < 7; ++i) k[i] = all[i];
  }
}

// Adds a row of the guide and its products or, with sign −1, subtracts them.
template <int channels>
void add_guide_row(const std::uint8_t* row, int width, int sign, std::int32_t* columns) {
  for (int x = 0; x < width; ++x, row += channels) {
    int index = 0;
    for (int c = 0; c < channels; ++c) columns[x + width * index++] += sign * (row[c] - 128);
    for (int c = 0; c < channels; ++c)
      for (int d = c; d < channels; ++d) columns[x + width * index++] += sign * (row[c] - 128) * (row[d] - 128);
  }
}

// Computes the statistics of several rows. `columns` and `boxes` have guide_sums<channels> rows of int32. `boxes` has
// one additional vector.
template <int channels>
void statistics_of(const Parameters& p, ImageView<const std::uint8_t> guide, Rows rows, ImageView<float> statistics,
                   std::int32_t* columns, std::int32_t* boxes) {
  constexpr int sums = guide_sums<channels>, outputs = statistics_count(channels);
  const Floats df;
  const Integers di;
  const int lanes = static_cast<int>(hn::Lanes(df)), width = guide.width, height = guide.height;
  std::fill_n(columns, sums * width, 0);
  for (int y = window_first(rows.first, p.radius); y < window_last(rows.first, p.radius, height); ++y)
    add_guide_row<channels>(guide.row(y), width, 1, columns);
  HWY_ALIGN float apart[outputs * most_lanes];
  for (int y = rows.first; y < rows.last; ++y) {
    if (y == rows.first || y + p.radius < height)
      add_guide_row<channels>(guide.row(window_last(y, p.radius, height)), width, 1, columns);
    if (y > rows.first && y - p.radius > 0) add_guide_row<channels>(guide.row(y - p.radius - 1), width, -1, columns);
    const int tall = window_last(y, p.radius, height) - window_first(y, p.radius) + 1;
    for (int s = 0; s < sums; ++s) {
      const std::int32_t* column = columns + s * width;
      std::int32_t* box = boxes + s * width;
      std::int32_t sum = 0;
      for (int x = 0; x < std::min(p.radius, width); ++x) sum += column[x];
      for (int x = 0; x < width; ++x) {
        if (x + p.radius < width) sum += column[x + p.radius];
        if (x - p.radius > 0) sum -= column[x - p.radius - 1];
        box[x] = sum;
      }
    }
    for (int x = 0; x < width; x += lanes) {
      I block[sums];
      for (int s = 0; s < sums; ++s) block[s] = hn::LoadU(di, boxes + s * width + x);
      float counts[most_lanes];
      for (int i = 0; i < lanes; ++i) {
        const int column = std::min(x + i, width - 1);
        counts[i] =
            static_cast<float>(tall * (window_last(column, p.radius, width) - window_first(column, p.radius) + 1));
      }
      F results[outputs];
      window_statistics<channels>(block, hn::LoadU(df, counts), static_cast<float>(p.epsilon), results);
      for (int i = 0; i < outputs; ++i) hn::Store(results[i], df, apart + i * most_lanes);
      float* out = statistics.row(y - rows.first) + x * outputs;
      for (int i = 0; i < std::min(lanes, width - x); ++i)
        for (int o = 0; o < outputs; ++o) *out++ = apart[o * most_lanes + i];
    }
  }
}

// Processes one vector of disparities down several rows. Costs are read r rows ahead of the coefficients, and
// coefficients are computed r rows ahead of the result.
template <int channels>
class Sweep {
 public:
  static constexpr int sums = channels + 1;

  Sweep(const Task& task, int disparity, const Scratch& scratch)
      : task_(task),
        scratch_(scratch),
        disparity_(disparity),
        radius_(task.p.radius),
        width_(task.guide.width),
        height_(task.guide.height),
        lanes_(static_cast<int>(hn::Lanes(Floats()))),
        cell_(sums * lanes_),
        factor_(fixed_point(task.p, channels)) {}

  // Writes the rows [first, last) of the input.
  void run(int first, int last) {
    std::fill_n(scratch_.columns, static_cast<std::ptrdiff_t>(cell_) * width_, 0);
    std::fill_n(scratch_.coefficients, static_cast<std::ptrdiff_t>(cell_) * width_, 0);
    const int from = window_first(first, radius_);
    for (int y = window_first(from, radius_); y < window_last(from, radius_, height_); ++y)
      change_columns<true, false>(y, 0);
    for (int y = from; y < last + radius_; ++y) {
      if (y < height_) {
        move_columns(y, from);
        y - from > 2 * radius_ ? coefficients<true>(y) : coefficients<false>(y);
      } else if (y - from > 2 * radius_) {
        drop_coefficients(y);
      }
      if (y - radius_ >= first) filter(y - radius_);
    }
  }

 private:
  const Floats df{};
  const Integers di{};

  std::int32_t* ring_row(int y) const {
    return scratch_.ring + static_cast<std::ptrdiff_t>(y % (2 * radius_ + 1)) * width_ * cell_;
  }
  const float* statistics(int y) const { return task_.statistics.row(y - task_.with_statistics.first); }

  // Moves the window to row y of the coefficients: the lowest row of the window enters, and the row above the window
  // leaves.
  void move_columns(int y, int from) {
    const bool comes = y == from || y + radius_<height_, goes = y> from && y - radius_ > 0;
    const int coming = window_last(y, radius_, height_), going = y - radius_ - 1;
    if (comes && goes)
      change_columns<true, true>(coming, going);
    else if (comes)
      change_columns<true, false>(coming, 0);
    else if (goes)
      change_columns<false, true>(0, going);
  }

  template <bool comes, bool goes>
  void change_columns(int coming, int going) {
    const hn::Rebind<std::uint8_t, Integers> d8;
    const std::uint8_t* new_guide = comes ? task_.guide.row(coming) : nullptr;
    const std::uint8_t* old_guide = goes ? task_.guide.row(going) : nullptr;
    const std::uint8_t* new_cost = comes ? task_.costs.row(coming) + disparity_ : nullptr;
    const std::uint8_t* old_cost = goes ? task_.costs.row(going) + disparity_ : nullptr;
    std::int32_t* column = scratch_.columns;
    for (int x = 0; x < width_; ++x, column += cell_) {
      I added = hn::Zero(di), taken = hn::Zero(di);
      if constexpr (comes)
        added = hn::PromoteTo(di, hn::LoadU(d8, new_cost + static_cast<std::ptrdiff_t>(x) * task_.costs.disparities));
      if constexpr (goes)
        taken = hn::PromoteTo(di, hn::LoadU(d8, old_cost + static_cast<std::ptrdiff_t>(x) * task_.costs.disparities));
      hn::StoreU(hn::Add(hn::LoadU(di, column), hn::Sub(added, taken)), di, column);
      for (int c = 0; c < channels; ++c) {
        std::int32_t* product = column + (1 + c) * lanes_;
        I sum = hn::LoadU(di, product);
        if constexpr (comes) sum = hn::Add(sum, hn::Mul(added, hn::Set(di, new_guide[channels * x + c] - 128)));
        if constexpr (goes) sum = hn::Sub(sum, hn::Mul(taken, hn::Set(di, old_guide[channels * x + c] - 128)));
        hn::StoreU(sum, di, product);
      }
    }
  }

  // Calls f(x, box) with the sums of all windows of a row of columns.
  template <class Function>
  HWY_INLINE void for_each_box(const std::int32_t* columns, Function&& f) const {
    I box[sums];
    for (int s = 0; s < sums; ++s) box[s] = hn::Zero(di);
    const auto change = [&](int x, bool comes) HWY_ATTR {
      const std::int32_t* column = columns + static_cast<std::ptrdiff_t>(x) * cell_;
      for (int s = 0; s < sums; ++s) {
        const I sum = hn::LoadU(di, column + s * lanes_);
        box[s] = comes ? hn::Add(box[s], sum) : hn::Sub(box[s], sum);
      }
    };
    for (int x = 0; x < std::min(radius_, width_); ++x) change(x, true);
    for (int x = 0; x < width_; ++x) {
      if (x + radius_ < width_) change(x + radius_, true);
      if (x - radius_ > 0) change(x - radius_ - 1, false);
      f(x, box);
    }
  }

  // Computes the coefficients a and b of a row, and updates the sums of their columns.
  template <bool goes>
  void coefficients(int y) {
    std::int32_t* out = ring_row(y);
    std::int32_t* column = scratch_.coefficients;
    const float* window = statistics(y);
    const F factor_a = hn::Set(df, factor_.a), factor_b = hn::Set(df, factor_.b);
    for_each_box(scratch_.columns, [&](int, const I* box) HWY_ATTR {
      const F sum = hn::ConvertTo(df, box[0]);
      F a[channels], v[channels];
      for (int c = 0; c < channels; ++c) {
        const I centred = hn::Sub(box[1 + c], hn::Mul(hn::Set(di, static_cast<std::int32_t>(window[c])), box[0]));
        v[c] = hn::Sub(hn::ConvertTo(df, centred), hn::Mul(hn::Set(df, window[channels + c]), sum));
      }
      const float* k = window + 3 * channels;
      const float* mu = window + 2 * channels;
      const auto times = [&](float x, F y_) HWY_ATTR { return hn::Mul(hn::Set(df, x), y_); };
      F offset;
      if constexpr (channels == 1) {
        a[0] = times(k[0], v[0]);
        offset = times(mu[0], a[0]);
      } else {
        a[0] = hn::Add(hn::Add(times(k[0], v[0]), times(k[1], v[1])), times(k[2], v[2]));
        a[1] = hn::Add(hn::Add(times(k[1], v[0]), times(k[3], v[1])), times(k[4], v[2]));
        a[2] = hn::Add(hn::Add(times(k[2], v[0]), times(k[4], v[1])), times(k[5], v[2]));
        offset = hn::Add(hn::Add(times(mu[0], a[0]), times(mu[1], a[1])), times(mu[2], a[2]));
      }
      const F b = hn::Sub(times(window[statistics_count(channels) - 1], sum), offset);
      for (int s = 0; s < sums; ++s) {
        const I value =
            hn::NearestInt(s < channels ? hn::Mul(a[s < channels ? s : 0], factor_a) : hn::Mul(b, factor_b));
        I total = hn::Add(hn::LoadU(di, column + s * lanes_), value);
        if constexpr (goes) total = hn::Sub(total, hn::LoadU(di, out + s * lanes_));
        hn::StoreU(total, di, column + s * lanes_);
        hn::StoreU(value, di, out + s * lanes_);
      }
      out += cell_;
      column += cell_;
      window += statistics_count(channels);
    });
  }

  // Below the image, a row leaves but no row enters.
  void drop_coefficients(int y) {
    const std::int32_t* old = ring_row(y);
    for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(cell_) * width_; i += lanes_)
      hn::StoreU(hn::Sub(hn::LoadU(di, scratch_.coefficients + i), hn::LoadU(di, old + i)), di,
                 scratch_.coefficients + i);
  }

  void filter(int y) {
    const std::uint8_t* guide = task_.guide.row(y);
    const float* share = statistics(y) + statistics_count(channels) - 1;
    const F unit_a = hn::Set(df, 1 / factor_.a), unit_b = hn::Set(df, 1 / factor_.b);
    const int count = std::min(lanes_, task_.costs.disparities - disparity_);
    float* out = task_.filtered.row(y - task_.rows.first) + disparity_;
    for_each_box(scratch_.coefficients, [&](int, const I* box) HWY_ATTR {
      const auto term = [&](int c) HWY_ATTR {
        return hn::Mul(hn::ConvertTo(df, box[c]), hn::Set(df, static_cast<float>(guide[c] - 128)));
      };
      F product = term(0);
      if constexpr (channels == 3) product = hn::Add(hn::Add(product, term(1)), term(2));
      const F scaled = hn::Add(hn::Mul(product, unit_a), hn::Mul(hn::ConvertTo(df, box[channels]), unit_b));
      const F result = hn::Mul(scaled, hn::Set(df, *share));
      if (count == lanes_) {
        hn::StoreU(result, df, out);
      } else {
        HWY_ALIGN float apart[most_lanes];
        hn::Store(result, df, apart);
        std::copy_n(apart, count, out);
      }
      guide += channels;
      share += statistics_count(channels);
      out += task_.costs.disparities;
    });
  }

  const Task& task_;
  const Scratch& scratch_;
  const int disparity_, radius_, width_, height_, lanes_, cell_;
  const FixedPoint factor_;
};

// Returns the number of vectors of disparities.
int vectors(int disparities) {
  const int lanes = static_cast<int>(hn::Lanes(Floats()));
  return (disparities + lanes - 1) / lanes;
}

void sweep(const Task& task, int vector, int first, int last, const Scratch& scratch) {
  const int disparity = vector * static_cast<int>(hn::Lanes(Floats()));
  if (task.guide.channels == 3)
    Sweep<3>(task, disparity, scratch).run(first, last);
  else
    Sweep<1>(task, disparity, scratch).run(first, last);
}

void statistics_rows(const Parameters& p, ImageView<const std::uint8_t> guide, Rows rows, ImageView<float> out,
                     std::int32_t* columns, std::int32_t* boxes) {
  if (guide.channels == 3)
    statistics_of<3>(p, guide, rows, out, columns, boxes);
  else
    statistics_of<1>(p, guide, rows, out, columns, boxes);
}

}  // namespace stereopsis::guided::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::guided {

HWY_EXPORT(vectors);
HWY_EXPORT(sweep);
HWY_EXPORT(statistics_rows);

namespace {

// Divides the scratch memory into pieces, or only counts their bytes.
class Pieces {
 public:
  explicit Pieces(std::byte* start) : start_(start) {}
  template <class T>
  T* take(std::size_t count) {
    std::byte* piece = start_ == nullptr ? nullptr : start_ + used_;
    used_ += (sizeof(T) * count + 63) / 64 * 64;
    return reinterpret_cast<T*>(piece);
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* start_;
  std::size_t used_ = 0;
};

Scratch thread_scratch(const Parameters& p, int width, int channels, Pieces& pieces) {
  const std::size_t row = static_cast<std::size_t>(width) * (channels + 1) * most_lanes;
  const std::size_t ring_rows = 2 * static_cast<std::size_t>(p.radius) + 1;
  const Scratch scratch{pieces.take<std::int32_t>(row), pieces.take<std::int32_t>(row * ring_rows),
                        pieces.take<std::int32_t>(row)};
  pieces.take<std::byte>(with_gap(0));
  return scratch;
}

ImageView<float> statistics_image(Size size, int channels, Pieces& pieces) {
  const int count = statistics_count(channels);
  return {pieces.take<float>(static_cast<std::size_t>(size.width) * size.height * count), size.width, size.height,
          count, static_cast<std::ptrdiff_t>(size.width) * count};
}

}  // namespace

std::size_t scratch_bytes(const Parameters& p, Size size, int channels, int threads) {
  Pieces pieces(nullptr);
  statistics_image(size, channels, pieces);
  for (int i = 0; i < threads; ++i) thread_scratch(p, size.width, channels, pieces);
  return pieces.used();
}

void cpu(const Parameters& p, ImageView<const std::uint8_t> guide, VolumeView<const std::uint8_t> costs, Rows rows,
         VolumeView<float> filtered, std::span<std::byte> memory, Threads& threads) {
  check_shapes(guide, costs, rows, filtered);
  Pieces pieces(memory.data());
  const ImageView<float> statistics = statistics_image(guide.size(), guide.channels, pieces);
  std::vector<Scratch> scratch;
  for (int i = 0; i < threads.count(); ++i) scratch.push_back(thread_scratch(p, guide.width, guide.channels, pieces));

  const Rows with_statistics{window_first(rows.first, p.radius),
                             window_last(rows.last - 1, p.radius, guide.height) + 1};
  const auto edge = [](const Rows& all, int part, int parts) {
    return all.first + static_cast<int>(static_cast<long long>(all.count()) * part / parts);
  };
  threads.each([&](int i) {
    const Rows mine{edge(with_statistics, i, threads.count()), edge(with_statistics, i + 1, threads.count())};
    if (mine.count() == 0) return;
    const auto part = statistics.crop({0, mine.first - with_statistics.first, guide.width, mine.count()});
    HWY_DYNAMIC_DISPATCH(statistics_rows)(p, guide, mine, part, scratch[i].columns, scratch[i].ring);
  });

  // A part of the work is a vector of disparities in a band of rows. The band is so high that its margin is small in
  // comparison.
  const int vectors = HWY_DYNAMIC_DISPATCH(vectors)(costs.disparities);
  const int bands =
      std::clamp(std::min(4 * threads.count() / vectors, rows.count() / (4 * p.radius)), 1, 4 * threads.count());
  const Task task{p, guide, costs, rows, filtered, statistics, with_statistics};
  std::atomic<int> next = 0;
  threads.each([&](int i) {
    for (int job = next++; job < vectors * bands; job = next++) HWY_DYNAMIC_DISPATCH(sweep)
    (task, job / bands, edge(rows, job % bands, bands), edge(rows, job % bands + 1, bands), scratch[i]);
  });
}

}  // namespace stereopsis::guided
#endif
