#include "device/cpu/threads.hpp"
#include "fused/zncc_wta/zncc_wta.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/zncc_wta/zncc_wta_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/wta/wta_cpu-inl.hpp"

#ifndef STEREOPSIS_ZNCC_WTA_BAND
#define STEREOPSIS_ZNCC_WTA_BAND
#include <type_traits>

namespace stereopsis::zncc_wta {

struct Job {
  Job(const Parameters& p_, const Input<>& in_, const wta::Output& out_)
      : p(p_),
        in(in_),
        out(out_),
        width(in_.left.width),
        height(in_.left.height),
        radius(p_.zncc.radius()),
        padded((in_.disparities + 31) / 32 * 32),
        columns(width + 2 * radius),
        entries(width + padded) {}

  Parameters p;
  Input<> in;
  wta::Output out;
  int width, height, radius;
  int padded;   // disparities, padded
  int columns;  // number of columns, including those outside the image that windows reach
  int entries;  // number of right pixels that are candidates in a row, from the rightmost pixel to the left
};

// Pairs of values. The products of two pairs are added with one instruction. For 32-bit sums, a pair consists of the
// two halves of a word.
template <class Sum>
struct Pairs;

template <>
struct Pairs<std::int32_t> {
  std::int32_t* both{};

  void set(int i, int first, int second) const {
    both[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(second) << 16 | static_cast<std::uint16_t>(first));
  }
  // Splits a sum over a window, and its factor, into parts that fit in 16 bits.
  void set_sum(int i, std::int32_t sum) const { set(i, sum >> 7, sum & 127); }
  void set_factor(int i, int factor) const { set(i, 128 * factor, factor); }
};

template <>
struct Pairs<double> {
  double *first{}, *second{};

  void set(int i, double a, double b) const {
    first[i] = a;
    second[i] = b;
  }
  void set_sum(int i, std::int32_t sum) const { set(i, sum, 0); }
  void set_factor(int i, int factor) const { set(i, factor, 0); }
};

// The memory of one thread. Right pixels are stored from right to left, so that the candidates of a left pixel are
// contiguous and ordered by disparity. Entry i is the pixel width − 1 − min_disparity − i.
template <class Sum>
struct Scratch {
  Sum* column_sums{};      // sums of products over the rows of the window: [columns][padded]
  Sum* window_sums{};      // sums of the column sums over the columns of the window: [padded]
  Pairs<Sum> left, right;  // samples of two rows: [columns], [columns + padded]
  std::int64_t *left_moments{},
      *right_moments{};              // Σ v and Σ v² of each column over the rows of the window: [2][width]
  Pairs<Sum> minus_mean, right_sum;  // values for the window of each pixel
  float *left_fraction{}, *left_root{}, *right_sum_float{}, *right_root{};
  std::uint16_t *costs{}, *right_cost{}, *right_index{};
  std::size_t bytes = 0;

  // If `memory` is null, the constructor only counts the bytes.
  Scratch(const Job& job, std::byte* memory) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    const auto take_pairs = [&](Pairs<Sum>& pairs, std::size_t count) {
      if constexpr (std::is_integral_v<Sum>) {
        take(pairs.both, count);
      } else {
        take(pairs.first, count);
        take(pairs.second, count);
      }
    };
    const std::size_t width = job.width, columns = job.columns, padded = job.padded, entries = job.entries;
    take(column_sums, columns * padded);
    take(window_sums, padded);
    take_pairs(left, columns);
    take_pairs(right, columns + padded);
    take(left_moments, 2 * width);
    take(right_moments, 2 * width);
    take_pairs(minus_mean, width);
    take(left_fraction, width);
    take(left_root, width);
    take_pairs(right_sum, entries);
    take(right_sum_float, entries);
    take(right_root, entries);
    take(costs, padded);
    take(right_cost, entries);
    take(right_index, entries);
    bytes += 64;  // prevents threads from sharing a cache line
  }
};

template <class Sum>
std::size_t scratch_bytes(const Job& job) {
  return Scratch<Sum>(job, nullptr).bytes;
}

}  // namespace stereopsis::zncc_wta
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::zncc_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace wta_cpu = stereopsis::wta::HWY_NAMESPACE;

// Exact arithmetic with pairs.
template <class Sum>
struct Exact;

template <>
struct Exact<std::int32_t> {
  using D = hn::ScalableTag<std::int32_t>;
  using V = hn::Vec<D>;
  using Factors = V;

  static HWY_INLINE Factors load(const Pairs<std::int32_t>& pairs, int i) { return hn::Set(D(), pairs.both[i]); }

  // Returns the sum plus the products of the factors and the pairs from i on.
  static HWY_INLINE V add(Factors a, const Pairs<std::int32_t>& pairs, int i, V sum) {
    const D d;
    const V b = hn::LoadU(d, pairs.both + i);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
    // On this target, the instruction adds the products of neighbours. On other targets, it may add other products.
    const hn::Repartition<std::int16_t, D> d16;
    V none = hn::Zero(d);
    return hn::ReorderWidenMulAccumulate(d, hn::BitCast(d16, a), hn::BitCast(d16, b), sum, none);
#else
    const auto first = [](V v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
    const auto second = [](V v) HWY_ATTR { return hn::ShiftRight<16>(v); };
    return hn::Add(sum, hn::Add(hn::Mul(first(a), first(b)), hn::Mul(second(a), second(b))));
#endif
  }
  static HWY_INLINE V add_first(Factors a, const Pairs<std::int32_t>& sums, int i, V sum) {
    return add(a, sums, i, sum);
  }
  static HWY_INLINE hn::Vec<hn::Rebind<float, D>> rounded(V exact) {
    return hn::ConvertTo(hn::Rebind<float, D>(), exact);
  }
};

template <>
struct Exact<double> {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  struct Factors {
    V first, second;
  };

  static HWY_INLINE Factors load(const Pairs<double>& pairs, int i) {
    return {hn::Set(D(), pairs.first[i]), hn::Set(D(), pairs.second[i])};
  }
  static HWY_INLINE V add(Factors a, const Pairs<double>& pairs, int i, V sum) {
    return hn::MulAdd(a.second, hn::LoadU(D(), pairs.second + i), add_first(a, pairs, i, sum));
  }
  static HWY_INLINE V add_first(Factors a, const Pairs<double>& pairs, int i, V sum) {
    return hn::MulAdd(a.first, hn::LoadU(D(), pairs.first + i), sum);
  }
  static HWY_INLINE hn::Vec<hn::Rebind<float, D>> rounded(V exact) {
    return hn::DemoteTo(hn::Rebind<float, D>(), exact);
  }
};

// A band of rows, processed by one thread.
template <class Sum>
class Band {
 public:
  Band(const Job& job, std::byte* memory)
      : job_(job), in_(job.in), s_(job, memory), n_(job.p.zncc.pixels()), one_over_n_(1.0f / static_cast<float>(n_)) {}

  void run(int first, int last) {
    std::fill_n(s_.column_sums, static_cast<std::size_t>(job_.columns) * job_.padded, Sum{0});
    std::fill_n(s_.left_moments, 2 * job_.width, 0);
    std::fill_n(s_.right_moments, 2 * job_.width, 0);
    for (int y = first - job_.radius; y < first + job_.radius; y += 2) add_rows(y);
    for (int y = first; y < last; ++y) {
      move_moments(y, y > first);
      describe_left();
      describe_right(y);
      load_rows(y + job_.radius, y - job_.radius - 1, y > first ? -1 : 0);
      match_row(y);
    }
  }

 private:
  using D = typename Exact<Sum>::D;
  using DF = hn::Rebind<float, D>;

  const std::int16_t* row_of(ImageView<const std::int16_t> samples, int y) const {
    return samples.row(std::clamp(y, 0, job_.height - 1));
  }

  // Loads the samples of two rows, and multiplies the second row by `weight`.
  void load_rows(int y0, int y1, int weight) const {
    const std::int16_t *left0 = row_of(in_.left, y0), *left1 = row_of(in_.left, y1);
    const std::int16_t *right0 = row_of(in_.right, y0), *right1 = row_of(in_.right, y1);
    for (int i = 0; i < job_.columns; ++i) {
      const int x = std::clamp(i - job_.radius, 0, job_.width - 1);
      s_.left.set(i, left0[x], weight * left1[x]);
    }
    const std::int64_t first = std::int64_t{job_.width} - 1 + job_.radius - in_.select.min_disparity;
    for (int i = 0; i < job_.columns + job_.padded; ++i) {
      const std::int64_t x = std::clamp<std::int64_t>(first - i, 0, job_.width - 1);
      s_.right.set(i, right0[x], right1[x]);
    }
  }

  // Adds two of the rows that the window needs above the first row of the band.
  void add_rows(int y) {
    load_rows(y, y + 1, 1);
    const D d;
    for (int i = 0; i < job_.columns; ++i) {
      Sum* sums = s_.column_sums + static_cast<std::size_t>(i) * job_.padded;
      const int right = job_.columns - 1 - i;
      const auto left = Exact<Sum>::load(s_.left, i);
      for (int k = 0; k < in_.disparities; k += static_cast<int>(hn::Lanes(d)))
        hn::Store(Exact<Sum>::add(left, s_.right, right + k, hn::Load(d, sums + k)), d, sums + k);
    }
    for (int row = y; row < y + 2; ++row) {
      add_moments(in_.left, row, 1, s_.left_moments);
      add_moments(in_.right, row, 1, s_.right_moments);
    }
  }

  void add_moments(ImageView<const std::int16_t> samples, int y, int sign, std::int64_t* moments) const {
    const std::int16_t* row = row_of(samples, y);
    for (int x = 0; x < job_.width; ++x) {
      const std::int32_t v = row[x];
      moments[x] += sign * v;
      moments[job_.width + x] += sign * (v * v);
    }
  }
  void move_moments(int y, bool leaves) {
    add_moments(in_.left, y + job_.radius, 1, s_.left_moments);
    add_moments(in_.right, y + job_.radius, 1, s_.right_moments);
    if (!leaves) return;
    add_moments(in_.left, y - job_.radius - 1, -1, s_.left_moments);
    add_moments(in_.right, y - job_.radius - 1, -1, s_.right_moments);
  }

  // Calls f(i, window) for the windows around `count` pixels: first, first − 1, …
  template <class F>
  void for_each_window(const std::int64_t* moments, std::int64_t first, int count, F&& f) const {
    const std::int64_t last_x = job_.width - 1;
    std::int64_t sum = 0, squares = 0;
    const auto add = [&](std::int64_t x, int sign) {
      const std::int64_t column = std::clamp<std::int64_t>(x, 0, last_x);
      sum += sign * moments[column];
      squares += sign * moments[job_.width + column];
    };
    for (int dx = -job_.radius; dx <= job_.radius; ++dx) add(first + dx, 1);
    for (int i = 0; i < count; ++i) {
      f(i, zncc::window_of(sum, squares, n_));
      add(first - i - job_.radius - 1, 1);
      add(first - i + job_.radius, -1);
    }
  }

  void describe_left() {
    for_each_window(s_.left_moments, job_.width - 1, job_.width, [&](int i, const zncc::Window& w) {
      const int x = job_.width - 1 - i;
      s_.minus_mean.set_factor(x, -w.mean(one_over_n_));
      s_.left_fraction[x] = w.fraction(one_over_n_, n_);
      s_.left_root[x] = w.inverse_root;
    });
  }

  // Absent candidates have a correlation of 0.
  void describe_right(int y) {
    const std::int64_t first = std::int64_t{job_.width} - 1 - in_.select.min_disparity;
    const auto& mask = in_.select.mask_right;
    for_each_window(s_.right_moments, first, job_.entries, [&](int i, const zncc::Window& w) {
      const std::int64_t x = first - i, inside = std::clamp<std::int64_t>(x, 0, job_.width - 1);
      const bool candidate =
          (job_.p.select.border_candidates || x == inside) && (mask.empty() || mask(static_cast<int>(inside), y) != 0);
      s_.right_sum.set_sum(i, w.sum);
      s_.right_sum_float[i] = static_cast<float>(w.sum);
      s_.right_root[i] = candidate ? w.inverse_root : 0;
    });
  }

  bool wants_right() const { return !job_.out.right.empty(); }

  void match_row(int y) {
    const wta_cpu::RightRow right_row{s_.right_cost, s_.right_index};
    if (wants_right()) wta_cpu::clear(right_row, job_.entries);
    std::fill_n(s_.window_sums, job_.padded, Sum{0});
    for (int i = job_.columns - 1; i >= 0; --i) {
      const int x =
          // The leftmost column of the window has the number of the pixel, because columns begin `radius` before the
          // image.
          i;
      const bool usable = x < job_.width && (in_.select.mask_left.empty() || in_.select.mask_left(x, y) != 0);
      if (!usable || s_.left_root[x] == 0) {
        move_window<false>(i);
        if (x < job_.width) set(x, y, {.validity = usable ? validity::ambiguous : validity::masked});
        continue;
      }
      move_window<true>(i);
      std::fill(s_.costs + in_.disparities, s_.costs + job_.padded, wta_cpu::no_cost);
      if (wants_right()) wta_cpu::update(right_row, job_.width - 1 - x, s_.costs, job_.padded);
      set(x, y,
          wta_cpu::select(job_.p.select, s_.costs, job_.padded, in_.disparities, in_.select.min_disparity,
                          !job_.out.confidence.empty()));
    }
    if (wants_right()) {
      const auto& mask = in_.select.mask_right;
      wta_cpu::finish(right_row, job_.width, in_.disparities, in_.select.min_disparity,
                      mask.empty() ? nullptr : mask.row(y), job_.out.right.row(y));
    }
  }

  void set(int x, int y, const wta_cpu::Selected& selected) const {
    job_.out.disparity(x, y) = selected.disparity;
    job_.out.validity(x, y) = selected.validity;
    if (!job_.out.confidence.empty()) job_.out.confidence(x, y) = selected.confidence;
  }

  // Adds the new row to column i, and moves the window to that column. If kCosts, also computes the costs.
  template <bool kCosts>
  HWY_INLINE void move_window(int i) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const int window = 2 * job_.radius + 1;
    Sum* HWY_RESTRICT entering = s_.column_sums + static_cast<std::size_t>(i) * job_.padded;
    const Sum* leaving =
        i + window < job_.columns ? entering + static_cast<std::size_t>(window) * job_.padded : nullptr;
    const int right = job_.columns - 1 - i;
    const auto left = Exact<Sum>::load(s_.left, i);
    const auto costs = costs_at(kCosts ? i : 0);
    for (int k = 0; k < in_.disparities; k += lanes) {
      const auto column = Exact<Sum>::add(left, s_.right, right + k, hn::Load(d, entering + k));
      hn::Store(column, d, entering + k);
      auto sum = hn::Add(hn::Load(d, s_.window_sums + k), column);
      if (leaving != nullptr) sum = hn::Sub(sum, hn::Load(d, leaving + k));
      hn::Store(sum, d, s_.window_sums + k);
      if constexpr (kCosts) costs(k, sum);
    }
  }

  // Returns a function that converts the window sums of pixel x to its costs.
  HWY_INLINE auto costs_at(int x) {
    const DF df;
    const auto minus_mean = Exact<Sum>::load(s_.minus_mean, x);
    const auto fraction = hn::Set(df, s_.left_fraction[x]), root = hn::Set(df, s_.left_root[x]);
    const int first = job_.width - 1 - x;
    return [=, this](int k, hn::Vec<D> sum) HWY_ATTR {
      const hn::RebindToSigned<DF> di;
      const hn::Rebind<std::uint16_t, DF> d16;
      const auto centred = Exact<Sum>::rounded(Exact<Sum>::add_first(minus_mean, s_.right_sum, first + k, sum));
      const auto rest = hn::Mul(fraction, hn::LoadU(df, s_.right_sum_float + first + k));
      const auto correlation = hn::Mul(hn::Mul(hn::Sub(centred, rest), root), hn::LoadU(df, s_.right_root + first + k));
      const auto clamped = hn::Min(hn::Max(correlation, hn::Zero(df)), hn::Set(df, 1.0f));
      // The last bit of 256 + ρ, as a float, has the value 2⁻¹⁵.
      const auto cost = hn::Sub(hn::Set(di, 0x43808000), hn::BitCast(di, hn::Add(clamped, hn::Set(df, 256.0f))));
      const auto no_match = hn::Eq(cost, hn::Set(di, 32768));
      hn::StoreU(hn::DemoteTo(d16, hn::IfThenElse(no_match, hn::Set(di, wta_cpu::no_cost), cost)), d16, s_.costs + k);
    };
  }

  const Job& job_;
  const Input<>& in_;
  Scratch<Sum> s_;
  int n_;
  float one_over_n_;
};

template <class Sum>
void match(const Job& job, std::span<std::byte> memory, Threads& threads) {
  const int bands = threads.count();
  const std::size_t bytes = with_gap(scratch_bytes<Sum>(job));
  threads.each([&](int i) {
    const int first = static_cast<int>(std::int64_t{job.height} * i / bands);
    const int last = static_cast<int>(std::int64_t{job.height} * (i + 1) / bands);
    if (first < last) Band<Sum>(job, memory.data() + i * bytes).run(first, last);
  });
}

void match_integer(const Job& job, std::span<std::byte> memory, Threads& threads) {
  match<std::int32_t>(job, memory, threads);
}
void match_double(const Job& job, std::span<std::byte> memory, Threads& threads) {
  match<double>(job, memory, threads);
}

}  // namespace stereopsis::zncc_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::zncc_wta {

HWY_EXPORT(match_integer);
HWY_EXPORT(match_double);

std::size_t workspace_bytes(const Parameters& p, Size size, int bits, int disparities, int threads) {
  check(disparities);
  Input<> in;
  in.left = {nullptr, size.width, size.height};
  in.disparities = disparities;
  const Job job(p, in, {});
  return threads * with_gap(bits == 8 ? scratch_bytes<std::int32_t>(job) : scratch_bytes<double>(job));
}

void cpu(const Parameters& p, const Input<>& in, const wta::Output& out, std::span<std::byte> workspace,
         Threads& threads) {
  check(in.disparities);
  const Job job(p, in, out);
  if (in.bits == 8)
    HWY_DYNAMIC_DISPATCH(match_integer)(job, workspace, threads);
  else
    HWY_DYNAMIC_DISPATCH(match_double)(job, workspace, threads);
}

}  // namespace stereopsis::zncc_wta
#endif
