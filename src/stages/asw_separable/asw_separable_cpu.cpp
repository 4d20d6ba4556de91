#include "stages/asw_separable/asw_separable.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/asw_separable/asw_separable_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/support_weight/support_weight_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::asw_separable::HWY_NAMESPACE {
namespace targeted = support_weight::HWY_NAMESPACE;

// Runs one of the two passes on rows [first, last). `weights` has the weights of a row of pixels, with one row per tap.
template <class T>
void average_rows(const Parameters& p, ImageView<const std::uint32_t> lab, VolumeView<const T> costs, bool vertical,
                  VolumeView<std::uint16_t> averages, std::uint8_t* weights, int first, int last) {
  const targeted::WindowWeigher weigher(p.gamma_colour, p.gamma_distance);
  targeted::CellAverage<T> average(p.window);
  const int width = lab.width, radius = p.window / 2;
  for (int y = first; y < last; ++y) {
    const auto row_of = [&](int i) { return std::clamp(y + (vertical ? i : 0), 0, lab.height - 1); };
    for (int tap = 0; tap < p.window; ++tap) {
      const int i = tap - radius;
      weigher.run(lab.row(y), lab.row(row_of(i)), width, vertical ? 0 : i, 4 * std::abs(i), weights + tap * width);
    }
    for (int x = 0; x < width; ++x) {
      for (int tap = 0; tap < p.window; ++tap) {
        const int i = tap - radius, column = std::clamp(x + (vertical ? 0 : i), 0, width - 1);
        average.set(tap, weights[tap * width + x], costs.pixel(column, row_of(i)));
      }
      average.run(costs.disparities, averages.pixel(x, y));
    }
  }
}
void average_across(const Parameters& p, ImageView<const std::uint32_t> lab, VolumeView<const std::uint8_t> costs,
                    VolumeView<std::uint16_t> averages, std::uint8_t* weights, int first, int last) {
  average_rows(p, lab, costs, false, averages, weights, first, last);
}
void average_down(const Parameters& p, ImageView<const std::uint32_t> lab, VolumeView<const std::uint16_t> costs,
                  VolumeView<std::uint16_t> averages, std::uint8_t* weights, int first, int last) {
  average_rows(p, lab, costs, true, averages, weights, first, last);
}

}  // namespace stereopsis::asw_separable::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::asw_separable {

HWY_EXPORT(average_across);
HWY_EXPORT(average_down);

namespace {

std::size_t weights_bytes(const Parameters& p, int width) {
  return with_gap(static_cast<std::size_t>(p.window) * width);
}

}  // namespace

std::size_t scratch_bytes(const Parameters& p, int width, int threads) { return threads * weights_bytes(p, width); }

void cpu(const Parameters& p, ImageView<const std::uint32_t> lab, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> horizontal, VolumeView<std::uint16_t> aggregated, std::span<std::byte> scratch,
         Threads& threads) {
  const int bands = threads.count();
  const auto pass = [&](auto&& average) {
    threads.each([&](int i) {
      const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(lab.height) * band / bands); };
      auto* const weights = reinterpret_cast<std::uint8_t*>(scratch.data() + i * weights_bytes(p, lab.width));
      average(weights, edge(i), edge(i + 1));
    });
  };
  pass([&](std::uint8_t* weights, int first, int last) {
    HWY_DYNAMIC_DISPATCH(average_across)(p, lab, costs, horizontal, weights, first, last);
  });
  pass([&](std::uint8_t* weights, int first, int last) {
    HWY_DYNAMIC_DISPATCH(average_down)(p, lab, horizontal, aggregated, weights, first, last);
  });
}

}  // namespace stereopsis::asw_separable
#endif
