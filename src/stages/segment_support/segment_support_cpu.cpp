// Aggregation over segments on the CPU. Each thread sums the segments of a band of blocks, whose pixels extend only a
// little beyond the band. Windows are then summed along rows, and the means of the segments are added.
#include "stages/segment_support/segment_support.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/segment_support/segment_support_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/shared/segments.hpp"
#include "stages/window_mean/window_mean_cpu-inl.hpp"

#ifndef STEREOPSIS_SEGMENT_SUPPORT_TABLE
#define STEREOPSIS_SEGMENT_SUPPORT_TABLE
namespace stereopsis::segment_support {

// For each segment, by its number: the number of its pixels, and the sums by disparity, which are later replaced by
// means.
struct Table {
  // If `memory` is null, the constructor only counts the bytes.
  Table(Size size, int disparities, std::byte* memory)
      : across(slic::blocks_across(size.width)),
        down(slic::blocks_across(size.height)),
        padded((disparities + 31) / 32 * 32) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    const auto segments = static_cast<std::size_t>(slic::block_count(size));
    take(values, segments * padded);
    take(pixels, segments);
  }

  std::int32_t* row(int number) const { return values + static_cast<std::size_t>(number) * padded; }

  int across, down, padded;
  std::int32_t* values{};
  std::int32_t* pixels{};
  std::size_t bytes = 0;
};

}  // namespace stereopsis::segment_support
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::segment_support::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;
using I32 = hn::ScalableTag<std::int32_t>;

int lanes() { return static_cast<int>(hn::Lanes(I32())); }

// Adds the costs of `count` adjacent pixels to sums.
void add_run(const std::uint8_t* costs, int count, int disparities, std::int32_t* sums) {
  const I32 d;
  for (int k = 0; k < disparities; k += lanes()) {
    auto sum = hn::Load(d, sums + k);
    for (int i = 0; i < count; ++i)
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, I32>(),
                                                    costs + static_cast<std::ptrdiff_t>(i) * disparities + k)));
    hn::Store(sum, d, sums + k);
  }
}

void divide(int disparities, int pixels, std::int32_t* sums) {
  const I32 d;
  for (int k = 0; k < disparities; k += lanes()) {
    const auto dividend = hn::Add(hn::ShiftLeft<7>(hn::Load(d, sums + k)), hn::Set(d, pixels / 2));
    hn::Store(quotient(d, dividend, pixels), d, sums + k);
  }
}

// Computes the means of the segments in the rows [first, last) of blocks.
void find_means(ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs, const Table& table,
                int first, int last) {
  const int from = first * table.across, to = last * table.across, cell = slic::segment_of(segments(0, 0)).cell;
  std::fill(table.row(from), table.row(to), 0);
  std::fill(table.pixels + from, table.pixels + to, 0);
  const int first_y = std::max(0, first * slic::block - cell),
            last_y = std::min(segments.height, last * slic::block + 2 * cell);
  for (int y = first_y; y < last_y; ++y)
    for (int x = 0, end; x < segments.width; x = end) {
      const std::uint32_t word = segments(x, y);
      for (end = x + 1; end < segments.width && segments(end, y) == word;) ++end;
      const int number = slic::segment_of(word).number;
      if (number < from || number >= to) continue;
      table.pixels[number] += end - x;
      add_run(costs.pixel(x, y), end - x, costs.disparities, table.row(number));
    }
  for (int number = from; number < to; ++number)
    if (table.pixels[number] > 0) divide(costs.disparities, table.pixels[number], table.row(number));
}

void add_windows(const Parameters& p, ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs,
                 const Table& table, VolumeView<std::uint16_t> aggregated, std::byte* memory, int first, int last) {
  if (first >= last) return;
  const auto segment_mean = [&](int x, int y) { return table.row(slic::segment_of(segments(x, y)).number); };
  const window_mean::Window window{p.window / 2, p.window / 2};
  window_mean::HWY_NAMESPACE::Band(window, costs, aggregated, memory, segment_mean).run(first, last);
}

}  // namespace stereopsis::segment_support::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::segment_support {

HWY_EXPORT(find_means);
HWY_EXPORT(add_windows);

namespace {

std::size_t thread_bytes(int width, int disparities) {
  return with_gap(window_mean::Scratch(width, disparities, nullptr).bytes);
}

}  // namespace

std::size_t scratch_bytes(Size size, int disparities, int threads) {
  return with_gap(Table(size, disparities, nullptr).bytes) + threads * thread_bytes(size.width, disparities);
}

void cpu(const Parameters& p, ImageView<const std::uint32_t> segments, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> aggregated, std::span<std::byte> scratch, Threads& threads) {
  const Table table(segments.size(), costs.disparities, scratch.data());
  std::byte* const rest = scratch.data() + with_gap(table.bytes);
  const int bands = threads.count();
  const auto edge = [&](int rows, int band) { return static_cast<int>(static_cast<long long>(rows) * band / bands); };
  threads.each([&](int i) {
    HWY_DYNAMIC_DISPATCH(find_means)(segments, costs, table, edge(table.down, i), edge(table.down, i + 1));
  });
  threads.each([&](int i) {
    HWY_DYNAMIC_DISPATCH(add_windows)
    (p, segments, costs, table, aggregated, rest + i * thread_bytes(costs.width, costs.disparities),
     edge(costs.height, i), edge(costs.height, i + 1));
  });
}

}  // namespace stereopsis::segment_support
#endif
