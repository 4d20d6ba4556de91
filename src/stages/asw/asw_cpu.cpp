// Adaptive support weights on the CPU, one row of the image at a time. All disparities of a pixel are contiguous in
// memory. The disparities of a pixel share the weights of the window in the left view, and the weights of the right
// view are ordered by disparity.
#include "stages/asw/asw.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/asw/asw_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/support_weight/support_weight_cpu-inl.hpp"

#ifndef STEREOPSIS_ASW_SCRATCH
#define STEREOPSIS_ASW_SCRATCH
namespace stereopsis::asw {

// The memory of one thread. The memory holds weights for each pixel of a row and each tap of a row of the window.
// Weights of the left view come first, then weights of the right view from right to left, as far as the disparities
// reach. The memory also holds sums for each cell of a row.
struct Scratch {
  // If `memory` is null, the constructor only counts the bytes.
  Scratch(const Parameters& p, int width_, int disparities, std::byte* memory)
      : width(width_), padded((disparities + 31) / 32 * 32), entries(width + padded) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    take(row, width);
    const std::size_t taps = 2 * static_cast<std::size_t>(p.radius_x()) + 1;  // taps of one row of the window
    take(left, taps * width);
    take(right, taps * entries);
    take(sums, static_cast<std::size_t>(width) * padded);
    take(totals, static_cast<std::size_t>(width) * padded);
  }

  int width, padded, entries;
  std::uint8_t *row{}, *left{}, *right{};
  std::uint64_t* sums{};
  std::uint32_t* totals{};
  std::size_t bytes = 0;
};

}  // namespace stereopsis::asw
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::asw::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class RowAggregation {
 public:
  RowAggregation(const Parameters& p, ImageView<const std::uint32_t> lab_left, ImageView<const std::uint32_t> lab_right,
                 int min_disparity, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated,
                 std::byte* memory)
      : taps_(2 * p.radius_x() + 1),
        radius_y_(p.radius_y()),
        lab_left_(lab_left),
        lab_right_(lab_right),
        min_disparity_(min_disparity),
        costs_(costs),
        aggregated_(aggregated),
        weigher_(p.gamma_colour, p.gamma_distance),
        s_(p, costs.width, costs.disparities, memory) {}

  void run(int y) const {
    const std::size_t cells = static_cast<std::size_t>(s_.width) * s_.padded;
    std::fill_n(s_.sums, cells, 0);
    std::fill_n(s_.totals, cells, 0);
    for (int dy = -radius_y_; dy <= radius_y_; ++dy) {
      const int row = std::clamp(y + dy, 0, costs_.height - 1);
      load_weights(y, row, dy);
      for (int x = 0; x < s_.width; ++x) add_row(x, row);
    }
    for (int x = 0; x < s_.width; ++x)
      for (int k = 0; k < costs_.disparities; ++k) {
        const std::size_t cell = static_cast<std::size_t>(x) * s_.padded + k;
        aggregated_(x, y, k) =
            static_cast<std::uint16_t>((128 * s_.sums[cell] + s_.totals[cell] / 2) / s_.totals[cell]);
      }
  }

 private:
  void load_weights(int y, int row, int dy) const {
    for (int tap = 0; tap < taps_; ++tap) {
      const int dx = tap - taps_ / 2;
      weigher_.run(lab_left_.row(y), lab_left_.row(row), s_.width, dx, quarters(dx, dy), s_.left + tap * s_.width);
      weigher_.run(lab_right_.row(y), lab_right_.row(row), s_.width, dx, quarters(dx, dy), s_.row);
      std::uint8_t* right = s_.right + static_cast<std::ptrdiff_t>(tap) * s_.entries;
      for (int i = 0; i < s_.entries; ++i) {
        const long long x = static_cast<long long>(s_.width) - 1 - min_disparity_ - i;
        right[i] = s_.row[std::clamp<long long>(x, 0, s_.width - 1)];
      }
    }
  }

  // Adds a row of the window. Sums over a row fit in 31 bits, but sums over the window do not.
  void add_row(int x, int row) const {
    using D = hn::ScalableTag<std::uint32_t>;
    const D d;
    const hn::Rebind<std::uint8_t, D> d8;
    const hn::Repartition<std::uint64_t, D> d64;
    const hn::Half<D> half;
    const int lanes = static_cast<int>(hn::Lanes(d)), radius = taps_ / 2;
    const std::uint8_t* right = s_.right + s_.width - 1 - x;
    for (int k = 0; k < costs_.disparities; k += lanes) {
      auto sum = hn::Zero(d), total = hn::Zero(d);
      for (int tap = 0; tap < taps_; ++tap) {
        const auto left = hn::Set(d, s_.left[tap * s_.width + x]);
        const auto other = hn::PromoteTo(d, hn::LoadU(d8, right + static_cast<std::ptrdiff_t>(tap) * s_.entries + k));
        const auto weight = hn::Mul(left, other);
        const std::uint8_t* cost = costs_.pixel(std::clamp(x + tap - radius, 0, s_.width - 1), row) + k;
        sum = hn::Add(sum, hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(d8, cost))));
        total = hn::Add(total, weight);
      }
      const std::size_t cell = static_cast<std::size_t>(x) * s_.padded + k;
      hn::Store(hn::Add(hn::Load(d, s_.totals + cell), total), d, s_.totals + cell);
      std::uint64_t* sums = s_.sums + cell;
      const auto low = hn::PromoteTo(d64, hn::LowerHalf(half, sum));
      const auto high = hn::PromoteTo(d64, hn::UpperHalf(half, sum));
      hn::Store(hn::Add(hn::Load(d64, sums), low), d64, sums);
      hn::Store(hn::Add(hn::Load(d64, sums + lanes / 2), high), d64, sums + lanes / 2);
    }
  }

  const int taps_, radius_y_;
  const ImageView<const std::uint32_t> lab_left_, lab_right_;
  const int min_disparity_;
  const VolumeView<const std::uint8_t> costs_;
  const VolumeView<std::uint16_t> aggregated_;
  const support_weight::HWY_NAMESPACE::WindowWeigher weigher_;
  const Scratch s_;
};

void aggregate_rows(const Parameters& p, ImageView<const std::uint32_t> lab_left,
                    ImageView<const std::uint32_t> lab_right, int min_disparity, VolumeView<const std::uint8_t> costs,
                    VolumeView<std::uint16_t> aggregated, std::byte* memory, int first, int last) {
  const RowAggregation rows(p, lab_left, lab_right, min_disparity, costs, aggregated, memory);
  for (int y = first; y < last; ++y) rows.run(y);
}

}  // namespace stereopsis::asw::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::asw {

HWY_EXPORT(aggregate_rows);

std::size_t scratch_bytes(const Parameters& p, int width, int disparities, int threads) {
  return threads * with_gap(Scratch(p, width, disparities, nullptr).bytes);
}

void cpu(const Parameters& p, ImageView<const std::uint32_t> lab_left, ImageView<const std::uint32_t> lab_right,
         int min_disparity, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated,
         std::span<std::byte> scratch, Threads& threads) {
  const std::size_t bytes = with_gap(Scratch(p, costs.width, costs.disparities, nullptr).bytes);
  const int bands = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(costs.height) * band / bands); };
    HWY_DYNAMIC_DISPATCH(aggregate_rows)
    (p, lab_left, lab_right, min_disparity, costs, aggregated, scratch.data() + i * bytes, edge(i), edge(i + 1));
  });
}

}  // namespace stereopsis::asw
#endif
