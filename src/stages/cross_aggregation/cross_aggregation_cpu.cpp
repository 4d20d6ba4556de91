#include "stages/cross_aggregation/cross_aggregation.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/cross_aggregation/cross_aggregation_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef STEREOPSIS_CROSS_AGGREGATION_LINES
#define STEREOPSIS_CROSS_AGGREGATION_LINES
namespace stereopsis::cross_aggregation {

constexpr int most_lanes = 16;
constexpr std::uint32_t longest_arms = cross::word_of({127, 127, 127, 127});
constexpr int padded(int disparities) { return (disparities + most_lanes - 1) / most_lanes * most_lanes; }

struct Problem {
  ImageView<const std::uint32_t> left;
  // Stored in reverse order, so that the candidates of a pixel are ordered by disparity.
  ImageView<std::uint32_t> right;
  VolumeView<std::uint8_t> costs;
  std::uint16_t* sums;  // sums along the first arms; the cells of a pixel are padded to whole vectors
  int cells;            // number of padded cells per pixel

  std::uint16_t* sums_at(int x, int y) const {
    return sums + (static_cast<std::ptrdiff_t>(y) * costs.width + x) * cells;
  }
};

// A row or a column, with memory for its running sums.
struct Line {
  bool along_row;
  int at;
  std::uint32_t *running, *counts;

  int x(int i) const { return along_row ? i : at; }
  int y(int i) const { return along_row ? at : i; }
};

}  // namespace stereopsis::cross_aggregation
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::cross_aggregation::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using U32 = hn::CappedTag<std::uint32_t, most_lanes>;
using I32 = hn::RebindToSigned<U32>;
using Words = hn::Vec<U32>;

// The two arms in one direction, for the candidates from k on.
struct Reach {
  Words before, behind;
};
HWY_INLINE Reach reach(const Problem& p, int x, int y, int k, bool along_row) {
  const U32 d;
  const hn::Repartition<std::uint8_t, U32> d8;
  const auto left = hn::BitCast(d8, hn::Set(d, p.left(x, y)));
  const auto right = hn::BitCast(d8, hn::LoadU(d, p.right.row(y) + p.costs.width - 1 - x + k));
  const auto arms = hn::BitCast(d, hn::Min(left, right)), byte = hn::Set(d, 255);
  if (along_row) return {hn::And(arms, byte), hn::And(hn::ShiftRight<8>(arms), byte)};
  return {hn::And(hn::ShiftRight<16>(arms), byte), hn::ShiftRight<24>(arms)};
}

// Returns the sum between the ends of the arms of pixel i, which is a difference of running sums.
HWY_INLINE Words between(const Problem& p, const std::uint32_t* running, const Reach& arms, int i, int k) {
  const U32 d;
  const I32 index;
  const auto cells = hn::Set(d, static_cast<std::uint32_t>(p.cells)), place = hn::Set(d, static_cast<std::uint32_t>(i));
  const auto one = hn::Set(d, 1u);
  const auto last = hn::Mul(hn::Add(hn::Add(place, arms.behind), one), cells);
  const auto first = hn::Mul(hn::Sub(place, arms.before), cells);
  const auto offset = hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<std::uint32_t>(k)));
  return hn::Sub(hn::GatherIndex(d, running, hn::BitCast(index, hn::Add(last, offset))),
                 hn::GatherIndex(d, running, hn::BitCast(index, hn::Add(first, offset))));
}

// Sums the costs over the arms along the line.
void first_pass(const Problem& p, const Line& line, int pixels) {
  const U32 d;
  const hn::Rebind<std::uint8_t, U32> d8;
  const hn::Rebind<std::uint16_t, U32> d16;
  const int lanes = static_cast<int>(hn::Lanes(d));
  std::fill_n(line.running, p.cells, 0);
  for (int i = 0; i < pixels; ++i) {
    const std::uint8_t* const in = p.costs.pixel(line.x(i), line.y(i));
    std::uint32_t* const running = line.running + static_cast<std::ptrdiff_t>(i) * p.cells;
    for (int k = 0; k < p.costs.disparities; k += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, running + k), hn::PromoteTo(d, hn::LoadU(d8, in + k))), d, running + p.cells + k);
  }
  for (int i = 0; i < pixels; ++i) {
    const int x = line.x(i), y = line.y(i);
    for (int k = 0; k < p.costs.disparities; k += lanes) {
      const auto sum = between(p, line.running, reach(p, x, y, k, line.along_row), i, k);
      hn::StoreU(hn::DemoteTo(d16, hn::BitCast(I32(), sum)), d16, p.sums_at(x, y) + k);
    }
  }
}

// Sums the results of the first pass over the arms in the other direction, and divides by the number of pixels.
void second_pass(const Problem& p, const Line& line, int pixels) {
  const U32 d;
  const hn::Rebind<std::uint8_t, U32> d8;
  const hn::Rebind<std::uint16_t, U32> d16;
  const hn::RebindToFloat<U32> df;
  const I32 d32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN std::uint8_t apart[most_lanes];
  std::fill_n(line.running, p.cells, 0);
  std::fill_n(line.counts, p.cells, 0);
  for (int i = 0; i < pixels; ++i) {
    const int x = line.x(i), y = line.y(i);
    const std::uint16_t* const in = p.sums_at(x, y);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * p.cells;
    for (int k = 0; k < p.costs.disparities; k += lanes) {
      const Reach arms = reach(p, x, y, k, !line.along_row);
      const auto pixels_there = hn::Add(hn::Add(arms.before, arms.behind), hn::Set(d, 1u));
      hn::StoreU(hn::Add(hn::LoadU(d, line.running + at + k), hn::PromoteTo(d, hn::LoadU(d16, in + k))), d,
                 line.running + at + p.cells + k);
      hn::StoreU(hn::Add(hn::LoadU(d, line.counts + at + k), pixels_there), d, line.counts + at + p.cells + k);
    }
  }
  for (int i = 0; i < pixels; ++i) {
    const int x = line.x(i), y = line.y(i);
    std::uint8_t* const out = p.costs.pixel(x, y);
    for (int k = 0; k < p.costs.disparities; k += lanes) {
      const Reach arms = reach(p, x, y, k, line.along_row);
      const auto count = between(p, line.counts, arms, i, k);
      const auto sum = hn::Add(between(p, line.running, arms, i, k), hn::ShiftRight<1>(count));
      // The values are below 2²⁴, so that the quotient is never rounded up to an integer.
      const auto quotient =
          hn::Div(hn::ConvertTo(df, hn::BitCast(d32, sum)), hn::ConvertTo(df, hn::BitCast(d32, count)));
      const auto mean = hn::DemoteTo(d8, hn::ConvertTo(d32, quotient));
      if (k + lanes <= p.costs.disparities) {
        hn::StoreU(mean, d8, out + k);
      } else {
        hn::Store(mean, d8, apart);
        std::copy_n(apart, p.costs.disparities - k, out + k);
      }
    }
  }
}

}  // namespace stereopsis::cross_aggregation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::cross_aggregation {

HWY_EXPORT(first_pass);
HWY_EXPORT(second_pass);

namespace {

int reversed_width(int width, int disparities) { return width + padded(disparities) + most_lanes; }
std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
std::size_t arms_bytes(Size size, int disparities) {
  return rounded(sizeof(std::uint32_t) * reversed_width(size.width, disparities) * size.height);
}
std::size_t sums_bytes(Size size, int disparities) {
  return rounded(sizeof(std::uint16_t) * size.width * size.height * padded(disparities));
}
std::size_t running_bytes(Size size, int disparities) {
  return rounded(sizeof(std::uint32_t) * (std::max(size.width, size.height) + 1) * padded(disparities));
}
std::size_t thread_bytes(Size size, int disparities) { return with_gap(2 * running_bytes(size, disparities)); }

// Stores the arms of the right view in reverse order. Stores arms of unlimited length if support = left.
void reverse_arms(const Parameters& p, const Arms& arms, int min_disparity, ImageView<std::uint32_t> reversed,
                  Threads& threads) {
  threads.rows(reversed.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int i = 0; i < reversed.width; ++i)
        reversed(i, y) =
            p.support == Support::left ? longest_arms : arms.right.clamped(arms.left.width - 1 - i - min_disparity, y);
  });
}

}  // namespace

std::size_t scratch_bytes(Size size, int disparities, int threads) {
  return arms_bytes(size, disparities) + sums_bytes(size, disparities) + thread_bytes(size, disparities) * threads;
}

void cpu(const Parameters& p, const Arms& arms, int min_disparity, VolumeView<std::uint8_t> costs,
         std::span<std::byte> scratch, Threads& threads) {
  check_images(p, arms);
  const Size size{costs.width, costs.height};
  std::byte* const after_arms = scratch.data() + arms_bytes(size, costs.disparities);
  std::byte* const after_sums = after_arms + sums_bytes(size, costs.disparities);
  const Problem problem{
      arms.left,
      {reinterpret_cast<std::uint32_t*>(scratch.data()), reversed_width(size.width, costs.disparities), size.height},
      costs,
      reinterpret_cast<std::uint16_t*>(after_arms),
      padded(costs.disparities)};
  reverse_arms(p, arms, min_disparity, problem.right, threads);
  const auto pass = [&](bool along_rows, auto&& function) {
    const int lines = along_rows ? size.height : size.width, pixels = along_rows ? size.width : size.height;
    threads.each([&](int i) {
      auto* const running = reinterpret_cast<std::uint32_t*>(after_sums + i * thread_bytes(size, costs.disparities));
      auto* const counts = running + running_bytes(size, costs.disparities) / sizeof(std::uint32_t);
      const auto edge = [&](int part) {
        return static_cast<int>(static_cast<long long>(lines) * part / threads.count());
      };
      for (int at = edge(i); at < edge(i + 1); ++at) function(problem, Line{along_rows, at, running, counts}, pixels);
    });
  };
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    const bool rows_first = iteration % 2 == 0;
    pass(rows_first, [](auto&&... of) { HWY_DYNAMIC_DISPATCH(first_pass)(of...); });
    pass(!rows_first, [](auto&&... of) { HWY_DYNAMIC_DISPATCH(second_pass)(of...); });
  }
}

}  // namespace stereopsis::cross_aggregation
#endif
