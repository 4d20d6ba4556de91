#include "stages/box/box.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/box/box_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/window_mean/window_mean_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::box::HWY_NAMESPACE {

void average_rows(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages,
                  std::byte* memory, int first, int last) {
  using namespace window_mean::HWY_NAMESPACE;
  if (first < last) Band(p.window(), costs, averages, memory, Nothing()).run(first, last);
}

}  // namespace stereopsis::box::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::box {

HWY_EXPORT(average_rows);

std::size_t scratch_bytes(int width, int disparities, int threads) {
  return threads * with_gap(window_mean::Scratch(width, disparities, nullptr).bytes);
}

void cpu(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages,
         std::span<std::byte> scratch, Threads& threads) {
  const std::size_t bytes = with_gap(window_mean::Scratch(costs.width, costs.disparities, nullptr).bytes);
  const int bands = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(costs.height) * band / bands); };
    HWY_DYNAMIC_DISPATCH(average_rows)(p, costs, averages, scratch.data() + i * bytes, edge(i), edge(i + 1));
  });
}

}  // namespace stereopsis::box
#endif
