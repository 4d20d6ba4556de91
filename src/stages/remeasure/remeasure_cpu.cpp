#include <algorithm>
#include <array>
#include <bit>

#include "stages/remeasure/remeasure.hpp"

#include "device/cpu/threads.hpp"

// Highway compiles this file for each target, so that population counts are one instruction where the target has it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/remeasure/remeasure_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::remeasure::HWY_NAMESPACE {

constexpr int window = 2 * reach + 1, candidates = 2 * span + 1;
constexpr int words_there = window + 2 * span;  // right words of a row of the window, for all candidates
using Costs = std::array<int, candidates>;

// Returns `count` words of a row from column x on. Near the border of the image, these are copied to `memory`.
HWY_INLINE const std::uint64_t* words_at(const std::uint64_t* row, int width, int x, int count, std::uint64_t* memory) {
  if (x >= 0 && x + count <= width) return row + x;
  for (int i = 0; i < count; ++i) memory[i] = row[std::clamp(x + i, 0, width - 1)];
  return memory;
}

HWY_INLINE Costs costs_at(const Input& in, int x, int y, int b) {
  Costs costs{};
  for (int j = -reach; j <= reach; ++j) {
    const int row = std::clamp(y + j, 0, in.left.height - 1);
    std::uint64_t left[window], right[words_there];
    const std::uint64_t* here = words_at(in.left.row(row), in.left.width, x - reach, window, left);
    const std::uint64_t* there = words_at(in.right.row(row), in.right.width, x - b - reach - span, words_there, right);
    for (int k = 0; k < candidates; ++k)
      for (int i = 0; i < window; ++i) costs[k] += std::popcount(here[i] ^ there[i + 2 * span - k]);
  }
  return costs;
}

HWY_INLINE void match_again(const Parameters& p, const Input& in, DisparityRange range, int x, int y, float& disparity,
                            std::uint8_t& validity) {
  const int b = static_cast<int>(std::floor(disparity + 0.5f));
  if (x - b - span < 0 || x - b + span >= in.right.width) return;
  const Costs costs = costs_at(in, x, y, b);
  const int best = static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
  if (best == 0 || best == candidates - 1) return;
  const int whole = b + best - span, below = costs[best - 1], above = costs[best + 1];
  const int rise = std::max(below, above) - costs[best];
  if (rise == 0 || whole < range.min || whole > range.max()) return;
  const float d = static_cast<float>(whole) + static_cast<float>(below - above) / static_cast<float>(2 * rise);
  if (std::abs(d - disparity) > static_cast<float>(p.tolerance)) return;
  disparity = d, validity = 0;
}

void process_rows(const Parameters& p, const Input& in, DisparityRange range, ImageView<float> disparity,
                  ImageView<std::uint8_t> validity, int first, int last) {
  const float least = static_cast<float>(p.confidence);
  for (int y = first; y < last; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const float confidence = in.confidence(x, y);
      std::uint8_t& v = validity(x, y);
      if (v == 0 && !(confidence >= least))
        v = validity::filled;
      else if (v != 0 && may_match(disparity(x, y), confidence, least))
        match_again(p, in, range, x, y, disparity(x, y), v);
    }
}

}  // namespace stereopsis::remeasure::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::remeasure {

HWY_EXPORT(process_rows);

void cpu(const Parameters& p, const Input& in, DisparityRange range, ImageView<float> disparity,
         ImageView<std::uint8_t> validity, Threads& threads) {
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(process_rows)(p, in, range, disparity, validity, first, last);
  });
}

}  // namespace stereopsis::remeasure
#endif
