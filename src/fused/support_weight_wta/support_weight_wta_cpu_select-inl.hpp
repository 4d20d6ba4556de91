// Selection from a row of aggregated costs. The file is included once for each SIMD target, hence the unusual include
// guard.
#if defined(STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SELECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SELECT_INL
#undef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SELECT_INL
#else
#define STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_SELECT_INL
#endif

#include <algorithm>
#include <cstdint>

#include "device/cpu/highway-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_costs-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_job.hpp"
#include "stages/wta/wta_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace wta_cpu = stereopsis::wta::HWY_NAMESPACE;

class Selector {
 public:
  Selector(const Job& job, const SelectScratch& scratch) : job_(job), scratch_(scratch) {}

  void run(int y) const {
    if (is_plain(job_.parameters.select, job_.in.select, job_.out)) return select_plainly(y);
    transpose(y);
    const wta_cpu::RightRow right{scratch_.right_cost, scratch_.right_index};
    if (!job_.out.right.empty()) wta_cpu::clear(right, job_.width + scratch_.padded);
    for (int x = job_.width - 1; x >= 0; --x) select(x, y, right);
    if (job_.out.right.empty()) return;
    const auto& mask = job_.in.select.mask_right;
    wta_cpu::finish(right, job_.width, job_.disparities, job_.in.select.min_disparity,
                    mask.empty() ? nullptr : mask.row(y), job_.out.right.row(y));
  }

 private:
  void select_plainly(int y) const {
    const D16 d;
    const Rows costs = job_.volume_row(y, 0);
    std::uint16_t indices[hn::MaxLanes(D16())];
    for (int x = 0; x < job_.width; x += lanes16()) {
      auto lowest = hn::LoadU(d, costs[0] + x), best = hn::Zero(d);
      for (int k = 1; k < job_.disparities; ++k) {
        const auto cost = hn::LoadU(d, costs[k] + x);
        best = hn::IfThenElse(hn::Lt(cost, lowest), hn::Set(d, static_cast<std::uint16_t>(k)), best);
        lowest = hn::Min(lowest, cost);
      }
      hn::StoreU(best, d, indices);
      const int whole = std::min(lanes16(), job_.width - x);
      for (int i = 0; i < whole; ++i)
        job_.out.disparity(x + i, y) = static_cast<float>(job_.in.select.min_disparity + indices[i]);
    }
    std::fill_n(job_.out.validity.row(y), job_.width, std::uint8_t{0});
  }

  void transpose(int y) const {
    const Rows costs = job_.volume_row(y, 0);
    constexpr int block = 32;
    for (int first = 0; first < job_.width; first += block)
      for (int k = 0; k < job_.disparities; ++k)
        for (int x = first; x < std::min(job_.width, first + block); ++x)
          scratch_.costs[static_cast<std::size_t>(x) * scratch_.padded + k] = costs[k][x];
  }

  void select(int x, int y, const wta_cpu::RightRow& right) const {
    const wta::Input& in = job_.in.select;
    std::uint16_t* costs = scratch_.costs + static_cast<std::size_t>(x) * scratch_.padded;
    std::fill(costs + job_.disparities, costs + scratch_.padded, wta_cpu::no_cost);
    const bool masked = !in.mask_left.empty() && in.mask_left(x, y) == 0;
    if (!job_.out.right.empty() && !masked) wta_cpu::update(right, job_.width - 1 - x, costs, scratch_.padded);

    wta_cpu::Selected selected{.validity = validity::masked};
    if (!masked) {
      wta_cpu::leave_candidates(job_.parameters.select, in, x, y, job_.width, job_.disparities, costs);
      selected = wta_cpu::select(job_.parameters.select, costs, scratch_.padded, job_.disparities, in.min_disparity,
                                 !job_.out.confidence.empty());
    }
    job_.out.disparity(x, y) = selected.disparity;
    job_.out.validity(x, y) = selected.validity;
    if (!job_.out.confidence.empty()) job_.out.confidence(x, y) = selected.confidence;
  }

  const Job& job_;
  const SelectScratch& scratch_;
};

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
