#include "stages/colour_difference/colour_difference.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/colour_difference/colour_difference_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/cost/cost_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::colour_difference::HWY_NAMESPACE {

// The fourth byte of each word is 0.
void cost_rows(const cost::Source<cost::AbsoluteDifference>& source, int min_disparity, VolumeView<std::uint8_t> costs,
               std::byte* memory, int entries, int first, int last) {
  cost::HWY_NAMESPACE::volume_rows(source, min_disparity, costs, memory, entries, first, last);
}

}  // namespace stereopsis::colour_difference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::colour_difference {

HWY_EXPORT(cost_rows);

namespace {

std::size_t row_bytes(int width, int disparities) {
  return sizeof(std::uint32_t) * cost::entries_of_row(width, disparities);
}

}  // namespace

std::size_t scratch_bytes(int width, int disparities, int threads) { return threads * row_bytes(width, disparities); }

void cpu(const Parameters& p, ImageView<const std::uint32_t> left, ImageView<const std::uint32_t> right,
         int min_disparity, VolumeView<std::uint8_t> costs, std::span<std::byte> scratch, Threads& threads) {
  const int bands = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(costs.height) * band / bands); };
    HWY_DYNAMIC_DISPATCH(cost_rows)
    ({left, right, {p.truncation}}, min_disparity, costs,
     scratch.data() + i * row_bytes(costs.width, costs.disparities),
     cost::entries_of_row(costs.width, costs.disparities), edge(i), edge(i + 1));
  });
}

}  // namespace stereopsis::colour_difference
#endif
