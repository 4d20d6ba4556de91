// Aggregation by esaw: processes a set of disparities down the image, with all iterations at once. The file is included
// once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_ESAW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_ESAW_INL
#undef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_ESAW_INL
#else
#define STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_ESAW_INL
#endif

#include <algorithm>
#include <cstdint>

#include "device/cpu/highway-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_costs-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_job.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns ⌊(n_before C_before + n C + n_behind C_behind + 128) / 256⌋. The upper and the lower bytes of the costs are
// summed separately, so that all sums fit in 16 bits.
HWY_INLINE V16 average(const V16* n, V16 before, V16 here, V16 behind) {
  const D16 d;
  const auto byte = hn::Set(d, 255);
  const auto sum = [&](V16 a, V16 b, V16 c)
                       HWY_ATTR { return hn::Add(hn::Add(hn::Mul(n[0], a), hn::Mul(n[1], b)), hn::Mul(n[2], c)); };
  const auto upper = sum(hn::ShiftRight<8>(before), hn::ShiftRight<8>(here), hn::ShiftRight<8>(behind));
  const auto lower = sum(hn::And(before, byte), hn::And(here, byte), hn::And(behind, byte));
  return hn::Add(upper, hn::ShiftRight<8>(hn::Add(lower, hn::Set(d, 128))));
}

class EsawSlab {
 public:
  EsawSlab(const Job& job, const EsawScratch& scratch, const Candidates& candidates)
      : job_(job), scratch_(scratch), candidates_(candidates) {}

  void run(int first) {
    first_ = first;
    count_ = std::min(job_.slab, job_.disparities - first);
    for (int y = 0; y < job_.height; ++y) {
      load_right(job_, y, first_, count_, candidates_.words);
      for (int k = 0; k < count_; ++k)
        make_costs(job_, candidates_.words, y, first_, count_, first_ + k, 7, scratch_.levels[0].input[k]);
      push(0, y);
    }
  }

 private:
  // Called when row y of the input of step t is available. Computes the horizontal sums of this row, and the vertical
  // sums that require this row.
  void push(int t, int y) {
    const EsawScratch::Level& level = scratch_.levels[t];
    load_shares(t, y, 0);
    const Rows sums = level.horizontal.slot(y);
    for (int k = 0; k < count_; ++k) {
      std::uint16_t* row = level.input[k];
      pad(row, job_.width, level.across, level.across);
      average_row(row - level.across, row, row + level.across, sums[k]);
    }
    const int last = job_.height - 1;
    const int from = y < last ? y - level.down : std::max(0, last - level.down), to = y < last ? y - level.down : last;
    for (int done = std::max(0, from); done <= to; ++done) {
      load_shares(t, done, 16);
      const bool is_last = t + 1 == static_cast<int>(scratch_.levels.size());
      const Rows out = is_last ? job_.volume_row(done, first_) : scratch_.levels[t + 1].input;
      const Rows above = level.horizontal.slot(std::max(0, done - level.down)), here = level.horizontal.slot(done),
                 below = level.horizontal.slot(std::min(last, done + level.down));
      for (int k = 0; k < count_; ++k) average_row(above[k], here[k], below[k], out[k]);
      if (!is_last) push(t + 1, done);
    }
  }

  void load_shares(int t, int y, int shift) const {
    const D16 d;
    const std::uint32_t* words = job_.weights.row(t * job_.height + y);
    int x = 0;
    for (; x + lanes16() <= job_.width; x += lanes16()) {
      const auto before = narrowed_load(words + x, shift), behind = narrowed_load(words + x, shift + 8);
      hn::StoreU(before, d, scratch_.shares[0] + x);
      hn::StoreU(hn::Sub(hn::Sub(hn::Set(d, 256), before), behind), d, scratch_.shares[1] + x);
      hn::StoreU(behind, d, scratch_.shares[2] + x);
    }
    for (; x < job_.width; ++x) {
      scratch_.shares[0][x] = static_cast<std::uint16_t>(words[x] >> shift & 255);
      scratch_.shares[1][x] = static_cast<std::uint16_t>(esaw::rest(words[x], shift));
      scratch_.shares[2][x] = static_cast<std::uint16_t>(words[x] >> (shift + 8) & 255);
    }
  }

  // Averages whole vectors, because rows have padding at their ends.
  void average_row(const std::uint16_t* before, const std::uint16_t* here, const std::uint16_t* behind,
                   std::uint16_t* out) const {
    const D16 d;
    for (int x = 0; x < job_.width; x += lanes16()) {
      const V16 n[] = {hn::LoadU(d, scratch_.shares[0] + x), hn::LoadU(d, scratch_.shares[1] + x),
                       hn::LoadU(d, scratch_.shares[2] + x)};
      hn::StoreU(average(n, hn::LoadU(d, before + x), hn::LoadU(d, here + x), hn::LoadU(d, behind + x)), d, out + x);
    }
  }

  const Job& job_;
  const EsawScratch& scratch_;
  const Candidates& candidates_;
  int first_ = 0, count_ = 0;
};

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
