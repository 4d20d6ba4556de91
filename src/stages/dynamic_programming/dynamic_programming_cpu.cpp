// Dynamic programming on the CPU, one row at a time. The forward pass stores its path costs in scratch memory, and the
// backward pass adds its own path costs.
#include "stages/dynamic_programming/dynamic_programming.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/dynamic_programming/dynamic_programming_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

#ifndef STEREOPSIS_DYNAMIC_PROGRAMMING_STATE
#define STEREOPSIS_DYNAMIC_PROGRAMMING_STATE
namespace stereopsis::dynamic_programming {

constexpr int most_lanes = 32;
constexpr std::uint16_t beyond = 65535;  // a value larger than any path cost

// Returns the number of cells for the path costs of a pixel, with `beyond` before the first cell and after the last.
constexpr int state_cells(int disparities) {
  return most_lanes + (disparities + most_lanes - 1) / most_lanes * most_lanes + most_lanes;
}

}  // namespace stereopsis::dynamic_programming
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::dynamic_programming::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<std::uint16_t, most_lanes>;

// Computes the path costs of a pixel from those of the previous pixel. At the start of a path, the pointer to the
// previous path costs is null. Calls store(cell, path, costs) for each block of cells, and returns the minimum.
template <class Store>
HWY_INLINE std::uint16_t follow(const Parameters& p, const std::uint8_t* costs, const std::uint16_t* before,
                                std::uint16_t lowest, int disparities, Store&& store) {
  const D d;
  const hn::Rebind<std::uint8_t, D> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto word = [d](int value) HWY_ATTR { return hn::Set(d, static_cast<std::uint16_t>(value)); };
  const auto base = word(lowest), p1 = word(p.p1), jump = word(lowest + p.p2);
  auto least = word(beyond);
  for (int k = 0; k < disparities; k += lanes) {
    const auto cost = hn::PromoteTo(d, hn::LoadU(d8, costs + k));
    auto path = cost;
    if (before != nullptr) {
      const auto beside = hn::Min(hn::LoadU(d, before + k - 1), hn::LoadU(d, before + k + 1));
      const auto stay = hn::Min(hn::LoadU(d, before + k), hn::SaturatedAdd(beside, p1));
      path = hn::Add(cost, hn::Sub(hn::Min(stay, jump), base));
    }
    if (k + lanes > disparities)
      path = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(disparities - k)), path, word(beyond));
    least = hn::Min(least, path);
    store(k, path, cost);
  }
  return hn::GetLane(hn::MinOfLanes(d, least));
}

// `forward` holds the states of all pixels of a row, and `backward` holds two states. The cells before and after each
// state are `beyond`.
void optimise_row(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums, int y,
                  std::uint16_t* forward, std::uint16_t* backward) {
  const D d;
  const int width = costs.width, count = costs.disparities, cells = state_cells(count);
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto state = [&](int x) { return forward + static_cast<std::ptrdiff_t>(x) * cells + most_lanes; };
  const auto store_at = [d](std::uint16_t* to) HWY_ATTR {
    return [d, to](int k, auto path, auto) HWY_ATTR { hn::StoreU(path, d, to + k); };
  };
  std::uint16_t lowest = 0;
  for (int x = 0; x < width; ++x)
    lowest = follow(p, costs.pixel(x, y), x > 0 ? state(x - 1) : nullptr, lowest, count, store_at(state(x)));

  HWY_ALIGN std::uint16_t last[most_lanes];
  for (int x = width - 1; x >= 0; --x) {
    std::uint16_t* const here = backward + (x % 2) * cells + most_lanes;
    const std::uint16_t* const before = x + 1 < width ? backward + ((x + 1) % 2) * cells + most_lanes : nullptr;
    const std::uint16_t* const opposite = state(x);
    std::uint16_t* const out = sums.pixel(x, y);
    lowest = follow(p, costs.pixel(x, y), before, lowest, count, [&](int k, auto path, auto cost) HWY_ATTR {
      hn::StoreU(path, d, here + k);
      const auto sum = hn::Add(hn::Sub(path, cost), hn::LoadU(d, opposite + k));
      if (k + lanes <= count) {
        hn::StoreU(sum, d, out + k);
      } else {
        hn::StoreU(sum, d, last);
        std::copy_n(last, count - k, out + k);
      }
    });
  }
}

}  // namespace stereopsis::dynamic_programming::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::dynamic_programming {

HWY_EXPORT(optimise_row);

namespace {

std::size_t row_cells(int width, int disparities) {
  return (static_cast<std::size_t>(width) + 2) * state_cells(disparities);
}

}  // namespace

std::size_t scratch_bytes(int width, int disparities, int threads) {
  return threads * with_gap(sizeof(std::uint16_t) * row_cells(width, disparities));
}

void cpu(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums,
         std::span<std::byte> scratch, Threads& threads) {
  check(p);
  const std::size_t cells = row_cells(costs.width, costs.disparities);
  threads.each([&](int i) {
    auto* const states = reinterpret_cast<std::uint16_t*>(scratch.data() + i * with_gap(sizeof(std::uint16_t) * cells));
    std::fill_n(states, cells, beyond);
    const auto edge = [&](int part) {
      return static_cast<int>(static_cast<long long>(costs.height) * part / threads.count());
    };
    for (int y = edge(i); y < edge(i + 1); ++y)
      HWY_DYNAMIC_DISPATCH(optimise_row)(p, costs, sums, y, states + 2 * state_cells(costs.disparities), states);
  });
}

}  // namespace stereopsis::dynamic_programming
#endif
