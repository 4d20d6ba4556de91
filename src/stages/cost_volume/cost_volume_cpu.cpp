#include "stages/cost_volume/cost_volume.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/cost_volume/cost_volume_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/cost/cost_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::cost_volume::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = cost::HWY_NAMESPACE;

#define STEREOPSIS_ROWS(name, Kind)                                                                         \
  void name(const cost::Source<Kind>& s, int m, VolumeView<std::uint8_t> c, std::byte* b, int e, int first, \
            int last) {                                                                                     \
    targeted::volume_rows(s, m, c, b, e, first, last);                                                      \
  }
STEREOPSIS_ROWS(rank_rows, cost::Rank)
STEREOPSIS_ROWS(census32_rows, cost::Census<std::uint32_t>)
STEREOPSIS_ROWS(census64_rows, cost::Census<std::uint64_t>)
STEREOPSIS_ROWS(census128_rows, cost::Census<Word128>)
STEREOPSIS_ROWS(census_gradient_rows, cost::CensusGradient)
STEREOPSIS_ROWS(colour_gradient_rows, cost::ColourGradient)
STEREOPSIS_ROWS(absolute_difference_rows, cost::AbsoluteDifference)
STEREOPSIS_ROWS(squared_difference_rows, cost::SquaredDifference)
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
HWY_EXPORT(absolute_difference_rows);
HWY_EXPORT(squared_difference_rows);

namespace {

template <class Kind>
std::size_t bytes_of_row(int width, int disparities) {
  return sizeof(typename Kind::Word) * cost::entries_of_row(width, disparities);
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
  else if constexpr (std::is_same_v<Kind, cost::AbsoluteDifference>)
    return HWY_DYNAMIC_DISPATCH(absolute_difference_rows);
  else if constexpr (std::is_same_v<Kind, cost::SquaredDifference>)
    return HWY_DYNAMIC_DISPATCH(squared_difference_rows);
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
         cost::entries_of_row(costs.width, costs.disparities), edge(i), edge(i + 1));
  });
}

#define STEREOPSIS_INSTANCE(Kind)                                 \
  template std::size_t scratch_bytes(const Kind&, int, int, int); \
  template void cpu(const cost::Source<Kind>&, int, VolumeView<std::uint8_t>, std::span<std::byte>, Threads&);
STEREOPSIS_FOR_EACH_COST(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::cost_volume
#endif
