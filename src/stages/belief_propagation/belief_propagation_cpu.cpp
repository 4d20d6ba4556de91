// Belief propagation on the CPU. A thread processes some rows of a level, with the disparities of a pixel in the lanes
// of vectors. In volumes, each pixel has a whole number of vectors.
#include "stages/belief_propagation/belief_propagation.hpp"

#include <atomic>

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/belief_propagation/belief_propagation_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

#ifndef STEREOPSIS_BELIEF_PROPAGATION_GRID
#define STEREOPSIS_BELIEF_PROPAGATION_GRID
namespace stereopsis::belief_propagation {

constexpr int most_lanes = 32;
constexpr std::uint16_t beyond = 65535;  // value for absent disparities

constexpr int padded(int disparities) { return (disparities + most_lanes - 1) / most_lanes * most_lanes; }

// The arrays of a level in memory.
struct Grid {
  Grid(const Level& level, int disparities_, std::byte* scratch)
      : size(level.size),
        disparities(disparities_),
        cells(padded(disparities_)),
        costs(reinterpret_cast<std::uint16_t*>(scratch + level.costs)),
        waiting(reinterpret_cast<std::uint8_t*>(scratch + level.waiting)) {
    for (int i = 0; i < 4; ++i) messages[i] = reinterpret_cast<std::uint16_t*>(scratch + level.message(i));
  }

  std::ptrdiff_t pixel(int x, int y) const { return static_cast<std::ptrdiff_t>(y) * size.width + x; }
  bool has(int x, int y) const { return x >= 0 && y >= 0 && x < size.width && y < size.height; }

  Size size;
  int disparities, cells;
  std::uint16_t* costs;
  std::uint16_t* messages[4];
  std::uint8_t* waiting;
};

}  // namespace stereopsis::belief_propagation
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::belief_propagation::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<std::uint16_t, most_lanes>;

HWY_INLINE hn::Vec<D> word(int value) { return hn::Set(D(), static_cast<std::uint16_t>(value)); }
HWY_INLINE hn::Vec<D> only_disparities(hn::Vec<D> v, int k, int disparities, std::uint16_t instead) {
  const D d;
  if (k + static_cast<int>(hn::Lanes(d)) <= disparities) return v;
  return hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(std::max(0, disparities - k))), v, word(instead));
}

// Returns the sum of the costs and the four messages of a pixel.
HWY_INLINE hn::Vec<D> sum_at(const Grid& grid, std::ptrdiff_t at) {
  const D d;
  auto sum = hn::LoadU(d, grid.costs + at);
  for (const std::uint16_t* messages : grid.messages) sum = hn::Add(sum, hn::LoadU(d, messages + at));
  return sum;
}

// Computes h and its lower envelope, surrounded by `beyond`. Returns the minimum of h.
std::uint16_t envelope(const Parameters& p, const Grid& grid, std::ptrdiff_t at, int but, std::uint16_t* h) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d)), count = grid.disparities;
  auto least = word(beyond);
  for (int k = 0; k < count; k += lanes) {
    const auto others = hn::Sub(sum_at(grid, at + k), hn::LoadU(d, grid.messages[but] + at + k));
    const auto value = only_disparities(others, k, count, beyond);
    least = hn::Min(least, value);
    hn::StoreU(value, d, h + k);
  }
  // Steps of 1, 2, 4 … cover the reach of a message, because a path of several steps costs as much as one step of the
  // total length. Values of the current round may already be included, because they also belong to paths.
  for (int reached = 0, step = 1, all = reach(p, count); reached < all; reached += step, step *= 2) {
    const auto cost = word(std::min(p.slope * step, 65535));
    for (int k = 0; k < count; k += lanes) {
      const auto beside = hn::Min(hn::LoadU(d, h + k - step), hn::LoadU(d, h + k + step));
      const auto value = hn::Min(hn::LoadU(d, h + k), hn::SaturatedAdd(beside, cost));
      hn::StoreU(only_disparities(value, k, count, beyond), d, h + k);
    }
  }
  return hn::GetLane(hn::MinOfLanes(d, least));
}

// `h` has memory for the disparities, and as much before and after them, filled with `beyond`.
void pass_messages(const Parameters& p, const Grid& grid, int x, int y, std::uint16_t* h) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < 4; ++i) {
    const int u = x + directions[i].dx, v = y + directions[i].dy;
    if (!grid.has(u, v)) continue;
    const int lowest = envelope(p, grid, grid.pixel(x, y) * grid.cells, i ^ 1, h);
    const auto base = word(lowest), most = word(lowest + p.truncation);
    std::uint16_t* const to = grid.messages[i] + grid.pixel(u, v) * grid.cells;
    auto change = hn::Zero(d);
    for (int k = 0; k < grid.disparities; k += lanes) {
      const auto value = only_disparities(hn::Sub(hn::Min(hn::LoadU(d, h + k), most), base), k, grid.disparities, 0);
      const auto old = hn::LoadU(d, to + k);
      change = hn::Max(change, hn::Sub(hn::Max(value, old), hn::Min(value, old)));
      hn::StoreU(value, d, to + k);
    }
    // Several threads may write this flag at once.
    if (hn::GetLane(hn::MaxOfLanes(d, change)) > p.convergence)
      std::atomic_ref(grid.waiting[grid.pixel(u, v)]).store(1, std::memory_order_relaxed);
  }
}

// Passes messages from those pixels in several rows that send in this pass.
void pass_message_rows(const Parameters& p, const Grid& grid, int turn, int first, int last, std::uint16_t* h) {
  for (int y = first; y < last; ++y)
    for (int x = (y + turn) % 2; x < grid.size.width; x += 2) {
      std::uint8_t& waits = grid.waiting[grid.pixel(x, y)];
      if (waits == 0) continue;
      waits = 0;
      pass_messages(p, grid, x, y, h);
    }
}

// Computes the sums of several rows.
void add_rows(const Grid& grid, VolumeView<std::uint16_t> sums, int first, int last) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN std::uint16_t tail[most_lanes];
  for (int y = first; y < last; ++y)
    for (int x = 0; x < grid.size.width; ++x)
      for (int k = 0; k < grid.disparities; k += lanes) {
        const auto sum = sum_at(grid, grid.pixel(x, y) * grid.cells + k);
        if (k + lanes <= grid.disparities) {
          hn::StoreU(sum, d, sums.pixel(x, y) + k);
        } else {
          hn::StoreU(sum, d, tail);
          std::copy_n(tail, grid.disparities - k, sums.pixel(x, y) + k);
        }
      }
}

}  // namespace stereopsis::belief_propagation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::belief_propagation {

HWY_EXPORT(pass_message_rows);
HWY_EXPORT(add_rows);

namespace {

std::size_t buffer_cells(int disparities) { return 3 * static_cast<std::size_t>(padded(disparities)); }

void widen(VolumeView<const std::uint8_t> costs, const Grid& grid, Threads& threads) {
  threads.rows(costs.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < costs.width; ++x) {
        std::uint16_t* const to = grid.costs + grid.pixel(x, y) * grid.cells;
        std::fill(std::copy_n(costs.pixel(x, y), costs.disparities, to), to + grid.cells, std::uint16_t{0});
      }
  });
}

void halve(const Grid& fine, const Grid& grid, Threads& threads) {
  threads.rows(grid.size.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < grid.size.width; ++x) {
        std::uint16_t* const to = grid.costs + grid.pixel(x, y) * grid.cells;
        std::fill_n(to, grid.cells, std::uint16_t{0});
        for (int v = 2 * y; v < std::min(2 * y + 2, fine.size.height); ++v)
          for (int u = 2 * x; u < std::min(2 * x + 2, fine.size.width); ++u) {
            const std::uint16_t* const from = fine.costs + fine.pixel(u, v) * fine.cells;
            for (int k = 0; k < grid.cells; ++k) to[k] = static_cast<std::uint16_t>(to[k] + from[k]);
          }
      }
  });
}

// Initialises the messages from the coarser level, or sets them to 0.
void begin(const Grid* coarse, const Grid& grid, Threads& threads) {
  threads.rows(grid.size.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      std::fill_n(grid.waiting + grid.pixel(0, y), grid.size.width, std::uint8_t{1});
      for (int i = 0; i < 4; ++i)
        for (int x = 0; x < grid.size.width; ++x) {
          std::uint16_t* const to = grid.messages[i] + grid.pixel(x, y) * grid.cells;
          if (coarse == nullptr)
            std::fill_n(to, grid.cells, std::uint16_t{0});
          else
            std::copy_n(coarse->messages[i] + coarse->pixel(x / 2, y / 2) * grid.cells, grid.cells, to);
        }
    }
  });
}

}  // namespace

std::size_t scratch_bytes(const Parameters& p, Size size, int disparities, int threads) {
  return Pyramid(p, size, padded(disparities)).bytes +
         threads * with_gap(sizeof(std::uint16_t) * buffer_cells(disparities));
}

void cpu(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums,
         std::span<std::byte> scratch, Threads& threads) {
  check(p);
  const int count = costs.disparities;
  const Pyramid pyramid(p, {costs.width, costs.height}, padded(count));
  std::vector<Grid> levels;
  for (const Level& level : pyramid.levels) levels.emplace_back(level, count, scratch.data());
  widen(costs, levels[0], threads);
  for (std::size_t l = 1; l < levels.size(); ++l) halve(levels[l - 1], levels[l], threads);
  for (std::size_t l = levels.size(); l-- > 0;) {
    const Grid& grid = levels[l];
    begin(l + 1 < levels.size() ? &levels[l + 1] : nullptr, grid, threads);
    for (int turn = 0; turn < 2 * p.iterations; ++turn)
      threads.each([&](int i) {
        const std::size_t cells = buffer_cells(count);
        auto* const buffer = reinterpret_cast<std::uint16_t*>(scratch.data() + pyramid.bytes +
                                                              i * with_gap(sizeof(std::uint16_t) * cells));
        std::fill_n(buffer, cells, beyond);
        const auto edge = [&](int part) {
          return static_cast<int>(static_cast<long long>(grid.size.height) * part / threads.count());
        };
        HWY_DYNAMIC_DISPATCH(pass_message_rows)(p, grid, turn, edge(i), edge(i + 1), buffer + padded(count));
      });
  }
  threads.rows(costs.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(add_rows)(levels[0], sums, first, last);
  });
}

}  // namespace stereopsis::belief_propagation
#endif
