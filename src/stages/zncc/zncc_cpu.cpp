// Correlation on the CPU by running sums. For each column and disparity, a thread keeps the sum of products over the
// rows of the window, and moves the sum over the window along a row. All sums are integers, which 64-bit floats
// represent exactly.
#include "stages/zncc/zncc.hpp"

#include "device/cpu/threads.hpp"
#include "stereopsis/disparity.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/zncc/zncc_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

#ifndef STEREOPSIS_ZNCC_BAND
#define STEREOPSIS_ZNCC_BAND
namespace stereopsis::zncc {

// The memory of one thread. Right pixels are stored from right to left, so that the candidates of a left pixel are
// contiguous and ordered by disparity.
struct Scratch {
  // If `memory` is null, the constructor only counts the bytes.
  Scratch(const Parameters& p, int width_, int disparities, std::byte* memory)
      : width(width_), padded((disparities + 15) / 16 * 16), columns(width + 2 * p.radius()) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    take(column_sums, static_cast<std::size_t>(columns) * padded);
    take(window_sums, padded);
    for (double*& row : left) take(row, columns);
    for (double*& row : right) take(row, columns + padded);
    for (std::int64_t*& sums : moments) take(sums, 2 * static_cast<std::size_t>(width));
    take(left_windows, width);
    take(right_sums, width + padded);
    take(right_roots, width + padded);
    take(costs, padded);
  }

  int width, padded, columns;
  double* column_sums{};       // sums of products over the rows of the window: [columns][padded]
  double* window_sums{};       // sums of the column sums over the columns of the window: [padded]
  double* left[2]{};           // samples of the rows that enter and leave the window: [columns]
  double* right[2]{};          // [columns + padded]
  std::int64_t* moments[2]{};  // Σ v and Σ v² of the columns of each view, over the rows of the window: [2][width]
  Window* left_windows{};
  double* right_sums{};
  float* right_roots{};
  std::uint16_t* costs{};
  std::size_t bytes = 0;
};

}  // namespace stereopsis::zncc
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::zncc::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class Band {
 public:
  Band(const Parameters& p, ImageView<const std::int16_t> left, ImageView<const std::int16_t> right, int min_disparity,
       VolumeView<std::uint16_t> costs, std::byte* memory)
      : radius_(p.radius()),
        n_(p.pixels()),
        one_over_n_(1.0f / static_cast<float>(n_)),
        views_{left, right},
        min_disparity_(min_disparity),
        costs_(costs),
        s_(p, left.width, costs.disparities, memory) {}

  void run(int first, int last) const {
    std::fill_n(s_.column_sums, static_cast<std::size_t>(s_.columns) * s_.padded, 0.0);
    for (std::int64_t* moments : s_.moments) std::fill_n(moments, 2 * s_.width, 0);
    for (int y = first - radius_; y < first + radius_; ++y) move_rows(y, 0, false);
    for (int y = first; y < last; ++y) {
      move_rows(y + radius_, y - radius_ - 1, y > first);
      describe_windows();
      make_costs(y);
    }
  }

 private:
  using D = hn::ScalableTag<double>;
  using DF = hn::Rebind<float, D>;
  using DI = hn::RebindToSigned<DF>;

  static int lanes() { return static_cast<int>(hn::Lanes(D())); }

  // Adds a row to the windows, and removes another row.
  void move_rows(int entering, int leaving, bool leaves) const {
    load_row(0, entering, 1);
    load_row(1, leaving, leaves ? -1 : 0);
    const D d;
    for (int c = 0; c < s_.columns; ++c) {
      double* sums = s_.column_sums + static_cast<std::size_t>(c) * s_.padded;
      const auto in = hn::Set(d, s_.left[0][c]), out = hn::Set(d, s_.left[1][c]);
      const double *right_in = s_.right[0] + s_.columns - 1 - c, *right_out = s_.right[1] + s_.columns - 1 - c;
      for (int k = 0; k < costs_.disparities; k += lanes()) {
        const auto moved = hn::MulAdd(in, hn::LoadU(d, right_in + k), hn::Load(d, sums + k));
        hn::Store(hn::MulAdd(out, hn::LoadU(d, right_out + k), moved), d, sums + k);
      }
    }
  }

  // Loads the samples of a row. Samples of the left view are multiplied by `weight`.
  void load_row(int which, int y, int weight) const {
    const auto row_of = [&](int view) { return views_[view].row(std::clamp(y, 0, views_[view].height - 1)); };
    const std::int16_t *left = row_of(0), *right = row_of(1);
    const int last = s_.width - 1;
    for (int c = 0; c < s_.columns; ++c) s_.left[which][c] = weight * left[std::clamp(c - radius_, 0, last)];
    const std::int64_t first = std::int64_t{last} + radius_ - min_disparity_;
    for (int i = 0; i < s_.columns + s_.padded; ++i)
      s_.right[which][i] = right[std::clamp<std::int64_t>(first - i, 0, last)];
    if (weight == 0) return;
    for (int view = 0; view < 2; ++view) {
      const std::int16_t* row = row_of(view);
      std::int64_t* moments = s_.moments[view];
      for (int x = 0; x < s_.width; ++x) {
        const std::int32_t v = row[x];
        moments[x] += weight * v;
        moments[s_.width + x] += weight * (v * v);
      }
    }
  }

  // Calls f(i, window) for the windows around `count` pixels: first, first − 1, …
  template <class F>
  void for_each_window(const std::int64_t* moments, std::int64_t first, int count, F&& f) const {
    std::int64_t sum = 0, squares = 0;
    const auto add = [&](std::int64_t x, int sign) {
      const std::int64_t column = std::clamp<std::int64_t>(x, 0, s_.width - 1);
      sum += sign * moments[column];
      squares += sign * moments[s_.width + column];
    };
    for (int dx = -radius_; dx <= radius_; ++dx) add(first + dx, 1);
    for (int i = 0; i < count; ++i) {
      f(i, window_of(sum, squares, n_));
      add(first - i - radius_ - 1, 1);
      add(first - i + radius_, -1);
    }
  }
  void describe_windows() const {
    const int last = s_.width - 1;
    for_each_window(s_.moments[0], last, s_.width, [&](int i, const Window& w) { s_.left_windows[last - i] = w; });
    for_each_window(s_.moments[1], std::int64_t{last} - min_disparity_, s_.width + s_.padded,
                    [&](int i, const Window& w) {
                      s_.right_sums[i] = w.sum;
                      s_.right_roots[i] = w.inverse_root;
                    });
  }

  void make_costs(int y) const {
    const D d;
    const int window = 2 * radius_ + 1;
    std::fill_n(s_.window_sums, s_.padded, 0.0);
    const auto column = [&](int c) { return s_.column_sums + static_cast<std::size_t>(c) * s_.padded; };
    for (int c = 0; c < s_.columns; ++c) {
      const double *entering = column(c), *leaving = column(std::max(c - window, 0));
      const auto left_behind = hn::Set(d, c >= window ? 1.0 : 0.0);
      for (int k = 0; k < costs_.disparities; k += lanes()) {
        const auto sum = hn::Add(hn::Load(d, s_.window_sums + k), hn::Load(d, entering + k));
        hn::Store(hn::NegMulAdd(left_behind, hn::Load(d, leaving + k), sum), d, s_.window_sums + k);
      }
      if (c < window - 1) continue;
      const int x = c - window + 1;
      for (int k = 0; k < costs_.disparities; k += lanes()) store_costs(x, k);
      std::copy_n(s_.costs, costs_.disparities, costs_.pixel(x, y));
    }
  }

  // Runs the operations of the header, each rounded to float.
  HWY_INLINE void store_costs(int x, int k) const {
    const D d;
    const DF f;
    const DI i;
    const hn::Rebind<std::uint16_t, DF> d16;
    const Window& left = s_.left_windows[x];
    const int there = s_.width - 1 - x + k;
    const auto right_sum = hn::LoadU(d, s_.right_sums + there);
    const auto mean = hn::Set(d, static_cast<double>(left.mean(one_over_n_)));
    const auto centred = hn::DemoteTo(f, hn::NegMulAdd(mean, right_sum, hn::Load(d, s_.window_sums + k)));
    const auto rest = hn::Mul(hn::Set(f, left.fraction(one_over_n_, n_)), hn::DemoteTo(f, right_sum));
    const auto correlation =
        hn::Mul(hn::Mul(hn::Sub(centred, rest), hn::Set(f, left.inverse_root)), hn::LoadU(f, s_.right_roots + there));
    const auto clamped = hn::Min(hn::Max(correlation, hn::Zero(f)), hn::Set(f, 1.0f));
    const auto score = hn::NearestInt(hn::Mul(clamped, hn::Set(f, 32768.0f)));
    const auto cost = hn::Sub(hn::Set(i, 32768), score);
    hn::StoreU(hn::DemoteTo(d16, hn::IfThenElse(hn::Eq(score, hn::Zero(i)), hn::Set(i, no_cost), cost)), d16,
               s_.costs + k);
  }

  const int radius_, n_;
  const float one_over_n_;
  const ImageView<const std::int16_t> views_[2];
  const int min_disparity_;
  const VolumeView<std::uint16_t> costs_;
  const Scratch s_;
};

void correlate(const Parameters& p, ImageView<const std::int16_t> left, ImageView<const std::int16_t> right,
               int min_disparity, VolumeView<std::uint16_t> costs, std::byte* memory, int first, int last) {
  if (first < last) Band(p, left, right, min_disparity, costs, memory).run(first, last);
}

// Computes the samples of a row. Float lanes represent 16-bit integers exactly.
template <class T>
void sample_row(const T* grey, int width, int bit_depth, std::int16_t* samples) {
  const hn::ScalableTag<std::int32_t> i;
  const hn::Rebind<std::int16_t, decltype(i)> i16;
  const int lanes = static_cast<int>(hn::Lanes(i));
  const auto block = [&](const T* from) HWY_ATTR {
    if constexpr (std::is_same_v<T, float>) {
      const hn::Rebind<float, decltype(i)> f;
      const auto apart = hn::Mul(hn::Sub(hn::LoadU(f, from), hn::Set(f, 256.0f)), hn::Set(f, 64.0f));
      const auto scaled = hn::Floor(hn::Add(apart, hn::Set(f, 0.5f)));
      return hn::ConvertTo(i, hn::Min(hn::Max(scaled, hn::Set(f, -32768.0f)), hn::Set(f, 32767.0f)));
    } else {
      const auto v = hn::PromoteTo(i, hn::LoadU(hn::Rebind<T, decltype(i)>(), from));
      return hn::Sub(hn::Min(v, hn::Set(i, (1 << bit_depth) - 1)), hn::Set(i, 1 << (bit_depth - 1)));
    }
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) hn::StoreU(hn::DemoteTo(i16, block(grey + x)), i16, samples + x);
  if (x == width) return;
  T rest[hn::MaxLanes(i)] = {};
  std::int16_t made[hn::MaxLanes(i)];
  std::copy(grey + x, grey + width, rest);
  hn::StoreU(hn::DemoteTo(i16, block(rest)), i16, made);
  std::copy_n(made, width - x, samples + x);
}
void sample_u8(const std::uint8_t* g, int w, int b, std::int16_t* s) { sample_row(g, w, b, s); }
void sample_u16(const std::uint16_t* g, int w, int b, std::int16_t* s) { sample_row(g, w, b, s); }
void sample_float(const float* g, int w, int b, std::int16_t* s) { sample_row(g, w, b, s); }

// Returns whether all samples of a row equal `value`.
bool is_flat(const std::int16_t* samples, int count, std::int16_t value) {
  const hn::CappedTag<std::int16_t, 32> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto wanted = hn::Set(d, value);
  int x = 0;
  for (; x + lanes <= count; x += lanes)
    if (!hn::AllTrue(d, hn::Eq(hn::LoadU(d, samples + x), wanted))) return false;
  for (; x < count; ++x)
    if (samples[x] != value) return false;
  return true;
}

// A window has no variance if all its samples are equal.
void mark_flat_rows(const Parameters& p, ImageView<const std::int16_t> left, ImageView<std::uint8_t> validity,
                    int first, int last) {
  const int radius = p.radius();
  for (int y = first; y < last; ++y)
    for (int x = 0; x < left.width; ++x) {
      if (validity(x, y) != validity::no_candidate) continue;
      const int from = std::max(0, x - radius), to = std::min(left.width, x + radius + 1);
      bool flat = true;
      for (int row = std::max(0, y - radius); flat && row <= std::min(left.height - 1, y + radius); ++row)
        flat = is_flat(left.row(row) + from, to - from, left(x, y));
      if (flat) validity(x, y) = validity::ambiguous;
    }
}

}  // namespace stereopsis::zncc::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::zncc {

HWY_EXPORT(correlate);
HWY_EXPORT(sample_u8);
HWY_EXPORT(sample_u16);
HWY_EXPORT(sample_float);
HWY_EXPORT(mark_flat_rows);

template <class T>
void samples_cpu(ImageView<const T> grey, int bit_depth, ImageView<std::int16_t> samples, Threads& threads) {
  threads.rows(grey.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      if constexpr (std::is_same_v<T, std::uint8_t>)
        HWY_DYNAMIC_DISPATCH(sample_u8)(grey.row(y), grey.width, bit_depth, samples.row(y));
      else if constexpr (std::is_same_v<T, std::uint16_t>)
        HWY_DYNAMIC_DISPATCH(sample_u16)(grey.row(y), grey.width, bit_depth, samples.row(y));
      else
        HWY_DYNAMIC_DISPATCH(sample_float)(grey.row(y), grey.width, bit_depth, samples.row(y));
  });
}

template void samples_cpu(ImageView<const std::uint8_t>, int, ImageView<std::int16_t>, Threads&);
template void samples_cpu(ImageView<const std::uint16_t>, int, ImageView<std::int16_t>, Threads&);
template void samples_cpu(ImageView<const float>, int, ImageView<std::int16_t>, Threads&);

std::size_t scratch_bytes(const Parameters& p, int width, int disparities, int threads) {
  return threads * with_gap(Scratch(p, width, disparities, nullptr).bytes);
}

void cpu(const Parameters& p, ImageView<const std::int16_t> left, ImageView<const std::int16_t> right,
         int min_disparity, VolumeView<std::uint16_t> costs, std::span<std::byte> scratch, Threads& threads) {
  const std::size_t bytes = with_gap(Scratch(p, costs.width, costs.disparities, nullptr).bytes);
  const int bands = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(costs.height) * band / bands); };
    HWY_DYNAMIC_DISPATCH(correlate)
    (p, left, right, min_disparity, costs, scratch.data() + i * bytes, edge(i), edge(i + 1));
  });
}

void mark_flat_cpu(const Parameters& p, ImageView<const std::int16_t> left, ImageView<std::uint8_t> validity,
                   Threads& threads) {
  threads.rows(left.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(mark_flat_rows)(p, left, validity, first, last);
  });
}

}  // namespace stereopsis::zncc
#endif
