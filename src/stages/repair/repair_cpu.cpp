#include <bit>
#include <cmath>

#include "device/cpu/threads.hpp"
#include "stages/repair/repair.hpp"

namespace stereopsis::repair {
namespace {

// Both maps along a line, a row or a column; step is the distance of neighbours in memory.
struct Line {
  const float *disparity, *confidence;
  std::ptrdiff_t step_disparity, step_confidence;
};

// Bit i − 1 tells that the i-th pixel in a direction is confident enough.
std::uint32_t confident(const float* confidence, std::ptrdiff_t step, int count, float need) {
  std::uint32_t bits = 0;
  for (int i = 1; i <= count; ++i) bits |= static_cast<std::uint32_t>(confidence[i * step] > need) << (i - 1);
  return bits;
}

// The disparity of the pair that lies closest together; NaN if there is none. `before` and `behind` pixels are there.
float of_pair(const Parameters& p, const Line& line, int before, int behind, float need) {
  const std::uint32_t left = confident(line.confidence, -line.step_confidence, std::min(before, p.reach), need);
  if (left == 0) return invalid_disparity;
  const std::uint32_t right = confident(line.confidence, line.step_confidence, std::min(behind, p.reach), need);
  if (right == 0) return invalid_disparity;
  const float tolerance = static_cast<float>(p.tolerance);
  const int least = std::countr_zero(left) + std::countr_zero(right) + 2;
  const int most = 64 - std::countl_zero(left) - std::countl_zero(right);
  for (int apart = least; apart <= most; ++apart)
    for (int i = std::max(1, apart - p.reach); i <= std::min(p.reach, apart - 1); ++i) {
      const int j = apart - i;
      if ((left >> (i - 1) & right >> (j - 1) & 1) == 0) continue;
      const float a = line.disparity[-i * line.step_disparity], b = line.disparity[j * line.step_disparity];
      if (std::abs(a - b) <= tolerance) return i <= j ? a : b;
    }
  return invalid_disparity;
}

struct Pass {
  ImageView<float> disparity, confidence, disparity_out, confidence_out;
  bool along_rows;
};

void repair_row(const Parameters& p, const Pass& pass, ImageView<std::uint8_t> validity, int y) {
  constexpr int beyond_repair = validity::masked | validity::outside;
  const int width = pass.disparity.width, height = pass.disparity.height;
  for (int x = 0; x < width; ++x) {
    const float here = pass.disparity(x, y), trust = pass.confidence(x, y), need = trust * p.factor();
    const Line line{&pass.disparity(x, y), &pass.confidence(x, y), pass.along_rows ? 1 : pass.disparity.pitch,
                    pass.along_rows ? 1 : pass.confidence.pitch};
    const float d = (validity(x, y) & beyond_repair) != 0 ? invalid_disparity
                    : pass.along_rows                     ? of_pair(p, line, x, width - 1 - x, need)
                                                          : of_pair(p, line, y, height - 1 - y, need);
    const bool found = d == d;
    if (found && d != here)
      validity(x, y) = static_cast<std::uint8_t>((validity(x, y) & ~validity::reasons) | validity::repaired);
    pass.disparity_out(x, y) = found ? d : here;
    pass.confidence_out(x, y) = found ? std::min(1.0f, need) : trust;
  }
}

}  // namespace

void cpu(const Parameters& p, const MapsOf<ImageView>& maps, Threads& threads) {
  const Pass forth{maps.disparity, maps.confidence, maps.repaired, maps.scratch, true};
  const Pass back{maps.repaired, maps.scratch, maps.disparity, maps.confidence, false};
  for (const Pass& pass : {forth, back, forth})
    threads.rows(maps.disparity.height, [&](int first, int last) {
      for (int y = first; y < last; ++y) repair_row(p, pass, maps.validity, y);
    });
  for (int y = 0; y < maps.confidence.height; ++y)
    std::copy_n(maps.scratch.row(y), maps.scratch.width, maps.confidence.row(y));
}

}  // namespace stereopsis::repair
