#include "device/cpu/threads.hpp"
#include "fused/zncc_wta/zncc_wta.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/zncc_wta/zncc_wta_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stages/wta/wta_cpu-inl.hpp"

#ifndef STEREOPSIS_ZNCC_WTA_BAND
#define STEREOPSIS_ZNCC_WTA_BAND
#include <type_traits>
#include <vector>

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
  int padded;   // disparities
  int columns;  // with those around the image that windows reach
  int entries;  // right pixels that a row has candidates for, from the rightmost to the left
};

// The memory of one thread. Right pixels are stored from right to left, so that a left pixel's candidates lie side by
// side in the order of their disparities: entry i is the pixel width − 1 − min_disparity − i.
template <class Sum>
struct Scratch {
  Sum* column_sums{};              // of products, over the rows of the window: [columns][padded]
  Sum* window_sums{};              // and over its columns: [padded]
  Sum *left_new{}, *left_old{};    // samples of the rows that enter and leave: [columns]
  Sum *right_new{}, *right_old{};  // [columns + padded]
  std::int64_t *left_moments{},
      *right_moments{};            // of each column, over the rows of the window: Σ v and Σ v²: [2][width]
  Sum *left_mean{}, *right_sum{};  // of each pixel's window
  float *left_fraction{}, *left_root{}, *right_sum_float{}, *right_root{};
  std::uint16_t *costs{}, *right_cost{}, *right_index{};
  std::size_t bytes = 0;

  // Without memory it only counts the bytes.
  Scratch(const Job& job, std::byte* memory) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    const std::size_t width = job.width, columns = job.columns, padded = job.padded, entries = job.entries;
    take(column_sums, columns * padded);
    take(window_sums, padded);
    take(left_new, columns);
    take(left_old, columns);
    take(right_new, columns + padded);
    take(right_old, columns + padded);
    take(left_moments, 2 * width);
    take(right_moments, 2 * width);
    take(left_mean, width);
    take(left_fraction, width);
    take(left_root, width);
    take(right_sum, entries);
    take(right_sum_float, entries);
    take(right_root, entries);
    take(costs, padded);
    take(right_cost, entries);
    take(right_index, entries);
    bytes += 64;  // so that threads share no cache line
  }
};

// Whether floats hold every sum over a window of 8-bit samples.
inline bool floats_are_exact(const zncc::Parameters& p, int bits) { return bits == 8 && p.window <= 31; }

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

// One thread's band of rows.
template <class Sum>
class Band {
 public:
  Band(const Job& job, std::byte* memory)
      : job_(job), in_(job.in), s_(job, memory), n_(job.p.zncc.pixels()), one_over_n_(1.0f / static_cast<float>(n_)) {}

  void run(int first, int last) {
    std::fill_n(s_.column_sums, static_cast<std::size_t>(job_.columns) * job_.padded, Sum{0});
    std::fill_n(s_.left_moments, 2 * job_.width, 0);
    std::fill_n(s_.right_moments, 2 * job_.width, 0);
    for (int y = first - job_.radius; y < first + job_.radius; ++y) add_row(y);
    for (int y = first; y < last; ++y) {
      move_moments(y, y > first);
      describe_left();
      describe_right(y);
      load_rows(y, y > first);
      match_row(y);
    }
  }

 private:
  using D = hn::ScalableTag<Sum>;
  using DF = hn::Rebind<float, D>;

  const std::int16_t* row_of(ImageView<const std::int16_t> samples, int y) const {
    return samples.row(std::clamp(y, 0, job_.height - 1));
  }

  void load_left(int y, Sum* out) const {
    const std::int16_t* row = row_of(in_.left, y);
    for (int i = 0; i < job_.columns; ++i) out[i] = row[std::clamp(i - job_.radius, 0, job_.width - 1)];
  }
  void load_right(int y, Sum* out) const {
    const std::int16_t* row = row_of(in_.right, y);
    const std::int64_t first = std::int64_t{job_.width} - 1 + job_.radius - in_.select.min_disparity;
    for (int i = 0; i < job_.columns + job_.padded; ++i)
      out[i] = row[std::clamp<std::int64_t>(first - i, 0, job_.width - 1)];
  }
  void load_rows(int y, bool leaves) {
    load_left(y + job_.radius, s_.left_new);
    load_right(y + job_.radius, s_.right_new);
    if (leaves) {
      load_left(y - job_.radius - 1, s_.left_old);
      load_right(y - job_.radius - 1, s_.right_old);
    } else {
      std::fill_n(s_.left_old, job_.columns, Sum{0});
      std::fill_n(s_.right_old, job_.columns + job_.padded, Sum{0});
    }
  }

  // The rows above the band's first one that its window needs.
  void add_row(int y) {
    load_left(y, s_.left_new);
    load_right(y, s_.right_new);
    const D d;
    for (int i = 0; i < job_.columns; ++i) {
      Sum* sums = s_.column_sums + static_cast<std::size_t>(i) * job_.padded;
      const Sum* right = s_.right_new + (job_.columns - 1 - i);
      const auto left = hn::Set(d, s_.left_new[i]);
      for (int k = 0; k < job_.padded; k += static_cast<int>(hn::Lanes(d)))
        hn::Store(plus_product(left, hn::LoadU(d, right + k), hn::Load(d, sums + k)), d, sums + k);
    }
    add_moments(in_.left, y, 1, s_.left_moments);
    add_moments(in_.right, y, 1, s_.right_moments);
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

  // Calls f(i, window) for the windows around the pixels first, first − 1, …, `count` of them.
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
      s_.left_mean[x] = static_cast<Sum>(w.mean(one_over_n_));
      s_.left_fraction[x] = w.fraction(one_over_n_, n_);
      s_.left_root[x] = w.inverse_root;
    });
  }

  // What is no candidate correlates with nothing.
  void describe_right(int y) {
    const std::int64_t first = std::int64_t{job_.width} - 1 - in_.select.min_disparity;
    const auto& mask = in_.select.mask_right;
    for_each_window(s_.right_moments, first, job_.entries, [&](int i, const zncc::Window& w) {
      const std::int64_t x = first - i, inside = std::clamp<std::int64_t>(x, 0, job_.width - 1);
      const bool candidate =
          (job_.p.select.border_candidates || x == inside) && (mask.empty() || mask(static_cast<int>(inside), y) != 0);
      s_.right_sum[i] = static_cast<Sum>(w.sum);
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
          i;  // the window's leftmost column is the pixel's number, as columns begin `radius` before the image
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

  // Column i gets its new row and enters the window; the column behind the window leaves it. Then, if wanted, the costs.
  template <bool kCosts>
  HWY_INLINE void move_window(int i) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const int window = 2 * job_.radius + 1;
    Sum* HWY_RESTRICT entering = s_.column_sums + static_cast<std::size_t>(i) * job_.padded;
    const Sum* leaving =
        i + window < job_.columns ? entering + static_cast<std::size_t>(window) * job_.padded : nullptr;
    const Sum* right_new = s_.right_new + (job_.columns - 1 - i);
    const Sum* right_old = s_.right_old + (job_.columns - 1 - i);
    const auto left_new = hn::Set(d, s_.left_new[i]), left_old = hn::Set(d, s_.left_old[i]);
    const auto costs = costs_at(kCosts ? i : 0);
    for (int k = 0; k < job_.padded; k += lanes) {
      const auto added = plus_product(left_new, hn::LoadU(d, right_new + k), hn::Load(d, entering + k));
      const auto column = less_product(left_old, hn::LoadU(d, right_old + k), added);
      hn::Store(column, d, entering + k);
      auto sum = hn::Add(hn::Load(d, s_.window_sums + k), column);
      if (leaving != nullptr) sum = hn::Sub(sum, hn::Load(d, leaving + k));
      hn::Store(sum, d, s_.window_sums + k);
      if constexpr (kCosts) costs(k, sum);
    }
  }

  // What turns the window sums of pixel x into its costs.
  HWY_INLINE auto costs_at(int x) {
    const D d;
    const DF df;
    const auto mean = hn::Set(d, s_.left_mean[x]);
    const auto fraction = hn::Set(df, s_.left_fraction[x]), root = hn::Set(df, s_.left_root[x]);
    const int first = job_.width - 1 - x;
    return [=, this](int k, hn::Vec<D> sum) HWY_ATTR {
      const hn::RebindToSigned<DF> di;
      const hn::Rebind<std::uint16_t, DF> d16;
      const auto centred = rounded(less_product(mean, hn::LoadU(d, s_.right_sum + first + k), sum));
      const auto rest = hn::Mul(fraction, hn::LoadU(df, s_.right_sum_float + first + k));
      const auto correlation = hn::Mul(hn::Mul(hn::Sub(centred, rest), root), hn::LoadU(df, s_.right_root + first + k));
      const auto clamped = hn::Min(hn::Max(correlation, hn::Zero(df)), hn::Set(df, 1.0f));
      // The last bit of 256 + ρ is worth 2⁻¹⁵.
      const auto cost = hn::Sub(hn::Set(di, 0x43808000), hn::BitCast(di, hn::Add(clamped, hn::Set(df, 256.0f))));
      const auto no_match = hn::Eq(cost, hn::Set(di, 32768));
      hn::StoreU(hn::DemoteTo(d16, hn::IfThenElse(no_match, hn::Set(di, wta_cpu::no_cost), cost)), d16, s_.costs + k);
    };
  }

  // c + a b and c − a b, which are exact.
  static HWY_INLINE hn::Vec<D> plus_product(hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c) {
    if constexpr (std::is_integral_v<Sum>)
      return hn::Add(c, hn::Mul(a, b));
    else
      return hn::MulAdd(a, b, c);
  }
  static HWY_INLINE hn::Vec<D> less_product(hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c) {
    if constexpr (std::is_integral_v<Sum>)
      return hn::Sub(c, hn::Mul(a, b));
    else
      return hn::NegMulAdd(a, b, c);
  }

  static HWY_INLINE hn::Vec<DF> rounded(hn::Vec<D> exact) {
    if constexpr (std::is_same_v<Sum, float>)
      return exact;
    else if constexpr (std::is_same_v<Sum, std::int32_t>)
      return hn::ConvertTo(DF(), exact);
    else
      return hn::DemoteTo(DF(), exact);
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

void match_float(const Job& job, std::span<std::byte> memory, Threads& threads) { match<float>(job, memory, threads); }
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

HWY_EXPORT(match_float);
HWY_EXPORT(match_integer);
HWY_EXPORT(match_double);

std::size_t workspace_bytes(const Parameters& p, Size size, int bits, int disparities, int threads) {
  check(disparities);
  Input<> in;
  in.left = {nullptr, size.width, size.height};
  in.disparities = disparities;
  const Job job(p, in, {});
  return threads * with_gap(bits == 8 ? scratch_bytes<float>(job) : scratch_bytes<double>(job));
}

void cpu(const Parameters& p, const Input<>& in, const wta::Output& out, std::span<std::byte> workspace,
         Threads& threads) {
  check(in.disparities);
  const Job job(p, in, out);
  if (floats_are_exact(p.zncc, in.bits))
    HWY_DYNAMIC_DISPATCH(match_float)(job, workspace, threads);
  else if (in.bits == 8)
    HWY_DYNAMIC_DISPATCH(match_integer)(job, workspace, threads);
  else
    HWY_DYNAMIC_DISPATCH(match_double)(job, workspace, threads);
}

}  // namespace stereopsis::zncc_wta
#endif
