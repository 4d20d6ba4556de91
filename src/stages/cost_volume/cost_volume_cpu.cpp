#include "stages/cost_volume/cost_volume.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/cost_volume/cost_volume_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stages/cost/cost_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::cost_volume::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = cost::HWY_NAMESPACE;

constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// A row of cells. A block may reach beyond its pixel, whose right neighbour then writes over it; the last pixels, behind
// which another thread's row begins, are made apart.
template <class Kind>
void volume_rows(const cost::Source<Kind>& source, int min_disparity, VolumeView<std::uint8_t> costs, std::byte* memory,
                 int entries, int first, int last) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), padded = round_up(costs.disparities, lanes);
  targeted::Candidates<Kind> candidates(source.kind, memory, entries);
  HWY_ALIGN std::uint8_t apart[64];
  for (int y = first; y < last; ++y) {
    candidates.load(source.right.row(y), costs.width, min_disparity, padded);
    const std::uint8_t* const end = costs.pixel(costs.width - 1, y) + costs.disparities;
    for (int x = 0; x < costs.width; ++x) {
      const auto left = source.left(x, y);
      std::uint8_t* out = costs.pixel(x, y);
      for (int k = 0; k < costs.disparities; k += lanes) {
        const auto block = candidates.block(d, left, costs.width - 1 - x + k);
        if (out + k + lanes <= end) {
          hn::StoreU(block, d, out + k);
        } else {
          hn::Store(block, d, apart);
          std::copy_n(apart, std::min<std::ptrdiff_t>(costs.disparities - k, lanes), out + k);
        }
      }
    }
  }
}

#define STEREOPSIS_ROWS(name, Kind)                                                                         \
  void name(const cost::Source<Kind>& s, int m, VolumeView<std::uint8_t> c, std::byte* b, int e, int first, \
            int last) {                                                                                     \
    volume_rows(s, m, c, b, e, first, last);                                                                \
  }
STEREOPSIS_ROWS(rank_rows, cost::Rank)
STEREOPSIS_ROWS(census32_rows, cost::Census<std::uint32_t>)
STEREOPSIS_ROWS(census64_rows, cost::Census<std::uint64_t>)
STEREOPSIS_ROWS(census128_rows, cost::Census<Word128>)
STEREOPSIS_ROWS(census_gradient_rows, cost::CensusGradient)
STEREOPSIS_ROWS(colour_gradient_rows, cost::ColourGradient)
#undef STEREOPSIS_ROWS

}  // namespace stereopsis::cost_volume::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::cost_volume {

HWY_EXPORT(rank_rows);
HWY_EXPORT(census32_rows);
HWY_EXPORT(census64_rows);
HWY_EXPORT(census128_rows);
HWY_EXPORT(census_gradient_rows);
HWY_EXPORT(colour_gradient_rows);

namespace {

// Of a row, with a block of 64 behind its last candidate.
int entries_of(int width, int disparities) { return (width + disparities + 2 * 64 + 63) / 64 * 64; }

template <class Kind>
std::size_t bytes_of_row(int width, int disparities) {
  return sizeof(typename Kind::Word) * entries_of(width, disparities);
}

template <class Kind>
auto rows_function() {
  if constexpr (std::is_same_v<Kind, cost::Rank>)
    return HWY_DYNAMIC_DISPATCH(rank_rows);
  else if constexpr (std::is_same_v<Kind, cost::Census<std::uint32_t>>)
    return HWY_DYNAMIC_DISPATCH(census32_rows);
  else if constexpr (std::is_same_v<Kind, cost::Census<std::uint64_t>>)
    return HWY_DYNAMIC_DISPATCH(census64_rows);
  else if constexpr (std::is_same_v<Kind, cost::Census<Word128>>)
    return HWY_DYNAMIC_DISPATCH(census128_rows);
  else if constexpr (std::is_same_v<Kind, cost::CensusGradient>)
    return HWY_DYNAMIC_DISPATCH(census_gradient_rows);
  else
    return HWY_DYNAMIC_DISPATCH(colour_gradient_rows);
}

}  // namespace

template <class Kind>
std::size_t scratch_bytes(const Kind&, int width, int disparities, int threads) {
  return bytes_of_row<Kind>(width, disparities) * threads;
}

template <class Kind>
void cpu(const cost::Source<Kind>& source, int min_disparity, VolumeView<std::uint8_t> costs,
         std::span<std::byte> scratch, Threads& threads) {
  check(source.kind);
  const auto rows = rows_function<Kind>();
  const int parts = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int part) { return static_cast<int>(static_cast<long long>(costs.height) * part / parts); };
    rows(source, min_disparity, costs, scratch.data() + i * bytes_of_row<Kind>(costs.width, costs.disparities),
         entries_of(costs.width, costs.disparities), edge(i), edge(i + 1));
  });
}

#define STEREOPSIS_INSTANCE(Kind)                                 \
  template std::size_t scratch_bytes(const Kind&, int, int, int); \
  template void cpu(const cost::Source<Kind>&, int, VolumeView<std::uint8_t>, std::span<std::byte>, Threads&);
STEREOPSIS_FOR_EACH_COST(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::cost_volume
#endif
