#include <algorithm>
#include <atomic>

#include "device/cpu/threads.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/support_weight_wta/support_weight_wta_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_esaw-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_full-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_job.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_select-inl.hpp"
#include "fused/support_weight_wta/support_weight_wta_cpu_separable-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::support_weight_wta::HWY_NAMESPACE {

void aggregate_slabs(const Job& job, std::byte* scratch, std::atomic<int>& next) {
  Memory memory(scratch);
  const Candidates candidates(job, memory);
  const auto run = [&](auto&& slab) {
    for (int first; (first = job.slab * next++) < job.disparities;) slab.run(first);
  };
  if (const auto* e = std::get_if<esaw::Parameters>(&job.parameters.aggregation)) {
    const EsawScratch esaw_scratch(*e, job, memory);
    run(EsawSlab(job, esaw_scratch, candidates));
  } else if (const auto* s = std::get_if<asw_separable::Parameters>(&job.parameters.aggregation)) {
    const SeparableScratch separable_scratch(*s, job, memory);
    run(SeparableSlab(job, separable_scratch, candidates));
  } else {
    const auto& a = std::get<asw::Parameters>(job.parameters.aggregation);
    const FullScratch full_scratch(a, job, memory);
    const FullRow row(a, job, full_scratch, candidates);
    for (int y; (y = next++) < job.height;) row.run(y);
  }
}

void select_rows(const Job& job, std::byte* scratch, std::atomic<int>& next) {
  Memory memory(scratch);
  const SelectScratch select_scratch(job, memory);
  const Selector selector(job, select_scratch);
  for (int y; (y = next++) < job.height;) selector.run(y);
}

void weigh_tap_rows(const asw_separable::Parameters& p, const Job& job, int first, int last) {
  for (int y = first; y < last; ++y) weigh_taps(p, job, y);
}

}  // namespace stereopsis::support_weight_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::support_weight_wta {

HWY_EXPORT(aggregate_slabs);
HWY_EXPORT(select_rows);
HWY_EXPORT(weigh_tap_rows);

std::size_t workspace_bytes(const Parameters& p, Size size, int disparities, int threads) {
  Memory memory(nullptr);
  const Job job(p, size, disparities, memory);
  return memory.used() + threads * with_gap(thread_bytes(job));
}

void cpu(const Parameters& p, const Input& in, const wta::Output& out, std::span<std::byte> workspace,
         Threads& threads) {
  Memory memory(workspace.data());
  Job job(p, in.rgb_left.size(), in.disparities, memory);
  job.in = in;
  job.out = out;
  if (const auto* e = std::get_if<esaw::Parameters>(&p.aggregation))
    esaw::cpu_weights(*e, in.lab_left, job.weights, job.sums[0], job.sums[1], threads);
  if (const auto* s = std::get_if<asw_separable::Parameters>(&p.aggregation))
    threads.rows(job.height, [&](int first, int last) { HWY_DYNAMIC_DISPATCH(weigh_tap_rows)(*s, job, first, last); });

  std::byte* const scratch = workspace.data() + memory.used();
  const std::size_t bytes = with_gap(thread_bytes(job));
  std::atomic<int> next_slab = 0, next_row = 0;
  threads.each([&](int i) { HWY_DYNAMIC_DISPATCH(aggregate_slabs)(job, scratch + i * bytes, next_slab); });
  threads.each([&](int i) { HWY_DYNAMIC_DISPATCH(select_rows)(job, scratch + i * bytes, next_row); });
}

}  // namespace stereopsis::support_weight_wta
#endif
