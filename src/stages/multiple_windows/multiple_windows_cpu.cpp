// Multiple windows on the CPU. Running sums result in a volume of averages, and the averages of the neighbouring
// windows are then sorted for each cell.
#include "stages/multiple_windows/multiple_windows.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/multiple_windows/multiple_windows_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"
#include "stages/window_mean/window_mean_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::multiple_windows::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

void average_rows(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages,
                  std::byte* memory, int first, int last) {
  using window_mean::HWY_NAMESPACE::Band;
  using window_mean::HWY_NAMESPACE::Nothing;
  if (first < last)
    Band(window_mean::Window{p.radius(), p.radius()}, costs, averages, memory, Nothing()).run(first, last);
}

// Processes the disparities from k on. `middle` and `beside` are the averages of the windows around the pixel and next
// to it.
template <int supports, class D>
HWY_INLINE void choose_block(D d, const std::uint16_t* middle, const std::array<const std::uint16_t*, 8>& beside, int k,
                             std::uint16_t* aggregated) {
  const hn::Rebind<std::uint16_t, D> d16;
  constexpr int count = 1 + supports / 2;
  hn::VFromD<decltype(d16)> sorted[supports];
  for (int i = 0; i < supports; ++i) sorted[i] = hn::LoadU(d16, beside[i] + k);
  sort_lanes<supports>(sorted);
  auto sum = hn::Add(hn::PromoteTo(d, hn::LoadU(d16, middle + k)), hn::Set(d, count / 2));
  for (int i = 0; i < count - 1; ++i) sum = hn::Add(sum, hn::PromoteTo(d, sorted[i]));
  hn::StoreU(hn::DemoteTo(d16, quotient(d, sum, count)), d16, aggregated + k);
}

template <int supports>
void choose(const Parameters& p, VolumeView<const std::uint16_t> averages, VolumeView<std::uint16_t> aggregated,
            int first, int last) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::CappedTag<std::int32_t, 1> one;
  std::array<const std::uint16_t*, 8> beside{};
  for (int y = first; y < last; ++y)
    for (int x = 0; x < averages.width; ++x) {
      for (int i = 0; i < supports; ++i)
        beside[i] = averages.pixel(std::clamp(x + directions[i].dx * p.radius(), 0, averages.width - 1),
                                   std::clamp(y + directions[i].dy * p.radius(), 0, averages.height - 1));
      const std::uint16_t* middle = averages.pixel(x, y);
      std::uint16_t* out = aggregated.pixel(x, y);
      for_each_block(
          d, 0, averages.disparities, [&](int k) { choose_block<supports>(d, middle, beside, k, out); },
          [&](int k) { choose_block<supports>(one, middle, beside, k, out); });
    }
}

void choose_of_4(const Parameters& p, VolumeView<const std::uint16_t> averages, VolumeView<std::uint16_t> aggregated,
                 int first, int last) {
  choose<4>(p, averages, aggregated, first, last);
}
void choose_of_8(const Parameters& p, VolumeView<const std::uint16_t> averages, VolumeView<std::uint16_t> aggregated,
                 int first, int last) {
  choose<8>(p, averages, aggregated, first, last);
}

}  // namespace stereopsis::multiple_windows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::multiple_windows {

HWY_EXPORT(average_rows);
HWY_EXPORT(choose_of_4);
HWY_EXPORT(choose_of_8);

namespace {

std::size_t averages_bytes(Size size, int disparities) {
  return with_gap(sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities);
}
std::size_t thread_bytes(int width, int disparities) {
  return with_gap(window_mean::Scratch(width, disparities, nullptr).bytes);
}

}  // namespace

std::size_t scratch_bytes(Size size, int disparities, int threads) {
  return averages_bytes(size, disparities) + threads * thread_bytes(size.width, disparities);
}

void cpu(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> aggregated,
         std::span<std::byte> scratch, Threads& threads) {
  const VolumeView<std::uint16_t> averages{reinterpret_cast<std::uint16_t*>(scratch.data()), costs.width, costs.height,
                                           costs.disparities,
                                           static_cast<std::ptrdiff_t>(costs.width) * costs.disparities};
  std::byte* const rest = scratch.data() + averages_bytes({costs.width, costs.height}, costs.disparities);
  const int bands = threads.count();
  const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(costs.height) * band / bands); };
  threads.each([&](int i) {
    HWY_DYNAMIC_DISPATCH(average_rows)
    (p, costs, averages, rest + i * thread_bytes(costs.width, costs.disparities), edge(i), edge(i + 1));
  });
  threads.rows(costs.height, [&](int first, int last) {
    if (p.supports() == 4)
      HWY_DYNAMIC_DISPATCH(choose_of_4)(p, averages, aggregated, first, last);
    else
      HWY_DYNAMIC_DISPATCH(choose_of_8)(p, averages, aggregated, first, last);
  });
}

}  // namespace stereopsis::multiple_windows
#endif
