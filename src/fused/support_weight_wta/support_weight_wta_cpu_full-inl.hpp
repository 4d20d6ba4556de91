// Aggregation by asw, one row of the image at a time. The file is included once for each SIMD target, hence the unusual
// include guard.
#if defined(STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_FULL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_FULL_INL
#undef STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_FULL_INL
#else
#define STEREOPSIS_SUPPORT_WEIGHT_WTA_CPU_FULL_INL
#endif

#include <algorithm>
#include <cstdint>

#include "device/cpu/highway-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_costs-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_job.hpp"
#include "stages/support_weight/support_weight_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class FullRow {
 public:
  FullRow(const asw::Parameters& p, const Job& job, const FullScratch& scratch, const Candidates& candidates)
      : job_(job), scratch_(scratch), candidates_(candidates), weigher_(p.gamma_colour, p.gamma_distance) {}

  void run(int y) const {
    std::fill_n(scratch_.sums, static_cast<std::size_t>(scratch_.sum_pitch) * job_.disparities, 0);
    std::fill_n(scratch_.totals, static_cast<std::size_t>(scratch_.sum_pitch) * job_.disparities, 0);
    const int radius = scratch_.radius;
    for (int dy = -radius; dy <= radius; ++dy) {
      const int row = std::clamp(y + dy, 0, job_.height - 1);
      load_weights(y, row, dy);
      load_right(job_, row, 0, job_.disparities, candidates_.words);
      for (int k = 0; k < job_.disparities; ++k) {
        make_costs(job_, candidates_.words, row, 0, job_.disparities, k, 0, scratch_.cost[0]);
        pad(scratch_.cost[0], job_.width, radius, radius);
        add_row(k);
      }
    }
    for (int k = 0; k < job_.disparities; ++k) finish(k, job_.volume_row(y, k)[0]);
  }

 private:
  // Loads the weights of the right view, starting with the pixel of column 0 at the largest disparity, as load_right
  // does.
  void load_weights(int y, int row, int dy) const {
    const int radius = scratch_.radius, width = job_.width;
    for (int dx = -radius; dx <= radius; ++dx) {
      const int quarters = asw::quarters(dx, dy);
      weigher_.run(job_.in.lab_left.row(y), job_.in.lab_left.row(row), width, dx, quarters, scratch_.left[dx + radius]);
      std::uint16_t* right = scratch_.right[dx + radius];
      std::uint16_t* unclamped = scratch_.cost[0];
      weigher_.run(job_.in.lab_right.row(y), job_.in.lab_right.row(row), width, dx, quarters, unclamped);
      copy_replicated(unclamped, width, -(job_.in.select.min_disparity + job_.disparities - 1),
                      width + job_.disparities - 1, right);
    }
  }

  void add_row(int k) const {
    const I32 d;
    const hn::Rebind<std::uint16_t, I32> d16;
    const int lanes = static_cast<int>(hn::Lanes(d)), taps = 2 * scratch_.radius + 1;
    const std::uint16_t* cost = scratch_.cost[0] - scratch_.radius;
    std::int32_t row[hn::MaxLanes(I32())];
    for (int x = 0; x < job_.width; x += lanes) {
      auto sum = hn::Zero(d), total = hn::Zero(d);
      for (int tap = 0; tap < taps; ++tap) {
        const auto left = hn::PromoteTo(d, hn::LoadU(d16, scratch_.left[tap] + x));
        const auto right = hn::PromoteTo(d, hn::LoadU(d16, scratch_.right[tap] + x + job_.disparities - 1 - k));
        const auto weight = hn::Mul(left, right);
        sum = hn::Add(sum, hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(d16, cost + x + tap))));
        total = hn::Add(total, weight);
      }
      // Sums over a row of the window fit in 31 bits, but sums over the window do not.
      hn::StoreU(sum, d, row);
      const int whole = std::min(lanes, job_.width - x);
      std::uint64_t* sums = scratch_.sums + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch + x;
      for (int i = 0; i < whole; ++i) sums[i] += static_cast<std::uint64_t>(row[i]);
      hn::StoreU(total, d, row);
      std::uint32_t* totals = scratch_.totals + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch + x;
      for (int i = 0; i < whole; ++i) totals[i] += static_cast<std::uint32_t>(row[i]);
    }
  }

  void finish(int k, std::uint16_t* out) const {
    const std::uint64_t* sums = scratch_.sums + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch;
    const std::uint32_t* totals = scratch_.totals + static_cast<std::ptrdiff_t>(k) * scratch_.sum_pitch;
    for (int x = 0; x < job_.width; ++x)
      out[x] = static_cast<std::uint16_t>((128 * sums[x] + totals[x] / 2) / totals[x]);
  }

  const Job& job_;
  const FullScratch& scratch_;
  const Candidates& candidates_;
  const support_weight::HWY_NAMESPACE::WindowWeigher weigher_;
};

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
