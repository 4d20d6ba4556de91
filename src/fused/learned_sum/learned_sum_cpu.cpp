#include <algorithm>

#include "device/cpu/threads.hpp"
#include "fused/learned_sum/learned_sum.hpp"
#include "stages/census_gradient/census_gradient.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/learned_sum/learned_sum_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/cost/cost_cpu-inl.hpp"
#include "stages/sum/sum_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::learned_sum::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace cost_cpu = stereopsis::cost::HWY_NAMESPACE;

// Adds the costs of words to those of a row of learned costs. `memory` holds the candidates.
void add_words(const Parameters& p, const std::uint32_t* left, const std::uint32_t* right, int width, int disparities,
               int min_disparity, std::byte* memory, const std::uint8_t* learned, std::uint8_t* sums) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), padded = (disparities + lanes - 1) / lanes * lanes;
  cost_cpu::Candidates<cost::CensusGradient> candidates(p.plus, memory, cost::entries_of_row(width, disparities));
  candidates.load(right, width, min_disparity, padded);
  const sum::HWY_NAMESPACE::Adder<decltype(d)> adder(p.sum);
  for (int x = 0; x < width; ++x)
    for (int k = 0; k < disparities; k += lanes) {
      const auto plus = candidates.block(d, left[x], width - 1 - x + k);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(x) * disparities + k;
      const int count = disparities - k;
      if (count >= lanes) {
        hn::StoreU(adder(hn::LoadU(d, learned + at), plus), d, sums + at);
      } else {
        HWY_ALIGN std::uint8_t part[hn::MaxLanes(d)] = {};
        std::copy_n(learned + at, count, part);
        hn::Store(adder(hn::Load(d, part), plus), d, part);
        std::copy_n(part, count, sums + at);
      }
    }
}

}  // namespace stereopsis::learned_sum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::learned_sum {

HWY_EXPORT(add_words);

namespace {

std::size_t align64(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
std::size_t bytes_of_words(Size size) { return align64(sizeof(std::uint32_t) * size.width * size.height); }
std::size_t bytes_of_costs(int width, int disparities) {
  return align64(static_cast<std::size_t>(width) * disparities);
}
std::size_t bytes_of_thread(int width, int disparities) {
  return with_gap(bytes_of_costs(width, disparities) +
                  sizeof(std::uint32_t) * cost::entries_of_row(width, disparities));
}

}  // namespace

std::size_t cpu_scratch_bytes(const Parameters& p, Size size, int disparities, int threads) {
  return 2 * bytes_of_words(size) + threads * bytes_of_thread(size.width, disparities) +
         learned_features::cost_scratch_bytes(p.learned.weights.network(), size, disparities, threads);
}

template <class T>
void cpu(const Parameters& p, const std::array<ImageView<const std::uint8_t>, 2>& grey8,
         const std::array<ImageView<const T>, 2>& grey, int min_disparity, VolumeView<std::uint8_t> sums,
         std::span<std::byte> scratch, Threads& threads) {
  const auto take = [&](std::size_t bytes) {
    std::byte* const memory = scratch.data();
    scratch = scratch.subspan(bytes);
    return memory;
  };
  const Size size = grey[0].size();
  const auto words = [&](int view) {
    const ImageView<std::uint32_t> made(reinterpret_cast<std::uint32_t*>(take(bytes_of_words(size))), size.width,
                                        size.height, 1, size.width);
    census_gradient::cpu<T>(grey[view], grey8[view], made, threads);
    return ImageView<const std::uint32_t>(made);
  };
  const ImageView<const std::uint32_t> left = words(0), right = words(1);
  const std::size_t bytes = bytes_of_thread(size.width, sums.disparities);
  std::byte* const rows = take(bytes * threads.count());
  const auto costs = [&](int thread) { return reinterpret_cast<std::uint8_t*>(rows + bytes * thread); };
  const auto add = [&](int thread, int y) {
    HWY_DYNAMIC_DISPATCH(add_words)
    (p, left.row(y), right.row(y), size.width, sums.disparities, min_disparity,
     rows + bytes * thread + bytes_of_costs(size.width, sums.disparities), costs(thread), sums.row(y));
  };
  learned_features::cost_rows_cpu(p.learned, grey8[0], grey8[1], min_disparity, sums.disparities,
                                  {[&](int thread, int) { return costs(thread); }, add}, scratch, threads);
}

#define STEREOPSIS_INSTANCE(T)                                                                                        \
  template void cpu<T>(const Parameters&, const std::array<ImageView<const std::uint8_t>, 2>&,                        \
                       const std::array<ImageView<const T>, 2>&, int, VolumeView<std::uint8_t>, std::span<std::byte>, \
                       Threads&);
STEREOPSIS_INSTANCE(std::uint8_t)
STEREOPSIS_INSTANCE(std::uint16_t)
STEREOPSIS_INSTANCE(float)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::learned_sum
#endif
