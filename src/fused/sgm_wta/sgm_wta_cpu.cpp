#include "fused/sgm_wta/sgm_wta.hpp"

#include "device/cpu/threads.hpp"
#include "fused/sgm_wta/sgm_wta_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/sgm_wta/sgm_wta_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "stages/cost/cost_cpu-inl.hpp"
#include "stages/sgm/sgm_cpu-inl.hpp"
#include "stages/wta/wta_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace cost_cpu = stereopsis::cost::HWY_NAMESPACE;
namespace sgm_cpu = stereopsis::sgm::HWY_NAMESPACE;
namespace wta_cpu = stereopsis::wta::HWY_NAMESPACE;

// One thread's part in a sweep. Columns u and rows v are counted along the sweep: the sweep up is the sweep
// down of the image turned by 180°.
template <class D, class Kind, int kPaths, bool kUp>
class Worker {
  using Lane = hn::TFromD<D>;
  using Candidates = cost_cpu::Candidates<Kind>;

 public:
  Worker(const Job<Kind>& job, Shared<Lane>& shared, Scratch<Lane> scratch, int stripe)
      : job_(job), shared_(shared), scratch_(scratch), first_y_(job.stripes.first_row(stripe)),
        rows_(job.stripes.rows_of(stripe)), first_v_(kUp ? job.height - first_y_ - rows_ : first_y_) {}

  void run() {
    const int bands = (rows_ + band_rows - 1) / band_rows;
    for (int band = shared_.take_band(); band < bands; band = shared_.take_band()) {
      const int first = first_v_ + band * band_rows;
      const int rows = std::min(band_rows, first_v_ + rows_ - first);
      for (int r = 0; r < rows; ++r) begin_row(r, first + r);
      for (int tile = 0; tile < job_.tiles(); ++tile) {
        shared_.wait_for_band_above(band, tile);
        // Each row is two columns behind the row above: what a pixel follows from was visited in an earlier step, so
        // that the processor works on the pixels of a step at a time.
        for (int step = tile * tile_columns; step < (tile + 1) * tile_columns; ++step)
          for (int r = 0; r < rows; ++r) {
            const int u = step - row_lag * r;
            if (u >= 0 && u < job_.width) visit(r, u, first + r);
          }
        shared_.finish_tile(band, tile);
      }
      if constexpr (kUp)
        for (int r = 0; r < rows; ++r) end_row(r, first + r);
    }
    hwy::FlushStream();
  }

 private:
  int image_x(int u) const { return kUp ? job_.width - 1 - u : u; }
  int image_y(int v) const { return kUp ? job_.height - 1 - v : v; }

  void begin_row(int r, int v) {
    candidates(r).load(job_.source.right.row(image_y(v)), job_.width, job_.select.min_disparity, job_.padded);
    scratch_.path(r).start(job_.padded);
    if (kUp && wants_right()) wta_cpu::clear(right_row(r), job_.width + job_.padded);
  }

  void visit(int r, int u, int v) {
    const int x = image_x(u), y = image_y(v);
    PathEnd<Lane> paths[kPaths];
    paths[0] = scratch_.path(r);
    paths[1] = shared_.path(0, u);
    if (v == 0) paths[1].start(job_.padded);
    if constexpr (kPaths == 4) {
      paths[2] = shared_.path(1, shared_.diagonal(u, v));
      paths[3] = shared_.path(2, shared_.antidiagonal(u, v));
      if (u == 0 || v == 0) paths[2].start(job_.padded);
      if (u == job_.width - 1 || v == 0) paths[3].start(job_.padded);
    }
    Lane p2[kPaths];
    set_penalties(p2, u, v, x, y);

    const auto left = job_.source.left(x, y);
    const Candidates row = candidates(r);
    const int first = job_.width - 1 - x;
    const Lane* padding = scratch_.padding();
    const auto block_costs = [&](int k) {
      const D d;
      return hn::Or(row.block(d, left, first + k), hn::Load(d, padding + k));
    };
    std::uint16_t* stored = job_.sums + (static_cast<std::ptrdiff_t>(y - first_y_) * job_.width + x) * job_.padded;
    if constexpr (kUp) {
      prefetch(stored, u);
      std::uint16_t* total = scratch_.total();
      sgm_cpu::extend_paths(D(), paths, p2, static_cast<Lane>(job_.p1), job_.padded, block_costs, [&](int k, auto sums) {
        const hn::DFromV<decltype(sums)> d16;
        hn::Store(hn::Add(sums, hn::Load(d16, stored + k)), d16, total + k);
      });
      std::fill(total + job_.disparities, total + job_.padded, wta_cpu::no_cost);
      select(r, x, y, total);
    } else {
      sgm_cpu::extend_paths(D(), paths, p2, static_cast<Lane>(job_.p1), job_.padded, block_costs, [&](int k, auto sums) {
        const hn::DFromV<decltype(sums)> d16;
        hn::Stream(sums, d16, stored + k);
      });
    }
  }

  // The stored sums come from memory, in an order that the hardware does not foresee: 1.2 times as fast as without.
  void prefetch(const std::uint16_t* stored, int u) const {
    constexpr int ahead = 8;  // pixels
    if (u + ahead >= job_.width) return;
    for (int k = 0; k < job_.padded; k += 32) hwy::Prefetch(stored - static_cast<std::ptrdiff_t>(ahead) * job_.padded + k);
  }

  void set_penalties(Lane (&p2)[kPaths], int u, int v, int x, int y) const {
    if (job_.guide.empty()) {
      std::fill_n(p2, kPaths, static_cast<Lane>(job_.penalties[0]));
      return;
    }
    constexpr int back = kUp ? 1 : -1;  // from a pixel to the one before it
    const int here = job_.guide(x, y);
    const auto penalty = [&](bool inside, int dx, int dy) {
      return static_cast<Lane>(inside ? job_.penalties[std::abs(here - job_.guide(x + dx, y + dy))] : 0);
    };
    p2[0] = penalty(u > 0, back, 0);
    p2[1] = penalty(v > 0, 0, back);
    if constexpr (kPaths == 4) {
      p2[2] = penalty(u > 0 && v > 0, back, back);
      p2[3] = penalty(u < job_.width - 1 && v > 0, -back, back);
    }
  }

  Candidates candidates(int r) const { return {job_.source.kind, scratch_.candidates(r), job_.candidates()}; }
  bool wants_right() const { return !job_.out.right.empty(); }
  wta_cpu::RightRow right_row(int r) const { return {scratch_.right_cost(r), scratch_.right_index(r)}; }

  void select(int r, int x, int y, std::uint16_t* total) {
    const auto& in = job_.select;
    const bool masked = !in.mask_left.empty() && in.mask_left(x, y) == 0;
    if (wants_right() && !masked) wta_cpu::update(right_row(r), job_.width - 1 - x, total, job_.padded);

    wta_cpu::Selected selected{.validity = validity::masked};
    if (!masked) {
      const auto range = wta::candidates(job_.select_parameters, x, job_.width, in.min_disparity, job_.disparities);
      std::fill(total, total + std::clamp(range.first, 0, job_.disparities), wta_cpu::no_cost);
      std::fill(total + std::clamp(range.last + 1, 0, job_.disparities), total + job_.disparities, wta_cpu::no_cost);
      if (!in.mask_right.empty())
        for (int k = 0; k < job_.disparities; ++k)
          if (in.mask_right.clamped(x - in.min_disparity - k, y) == 0) total[k] = wta_cpu::no_cost;
      selected = wta_cpu::select(job_.select_parameters, total, job_.padded, job_.disparities, in.min_disparity,
                                 !job_.out.confidence.empty());
    }
    job_.out.disparity(x, y) = selected.disparity;
    job_.out.validity(x, y) = selected.validity;
    if (!job_.out.confidence.empty()) job_.out.confidence(x, y) = selected.confidence;
  }

  void end_row(int r, int v) {
    if (!wants_right()) return;
    const int y = image_y(v);
    const auto& mask = job_.select.mask_right;
    wta_cpu::finish(right_row(r), job_.width, job_.disparities, job_.select.min_disparity,
                    mask.empty() ? nullptr : mask.row(y), job_.out.right.row(y));
  }

  const Job<Kind>& job_;
  Shared<Lane>& shared_;
  Scratch<Lane> scratch_;
  const int first_y_, rows_;  // of the stripe, in the image
  const int first_v_;         // and along the sweep
};

template <class D, class Kind, int kPaths>
void both_sweeps(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  using Lane = hn::TFromD<D>;
  Shared<Lane> shared(job, Pieces(memory), threads.count());
  const std::size_t ends_bytes = job.ends_bytes(sizeof(Lane), threads.count());
  std::byte* const all_kept = memory.data() + job.shared_bytes(sizeof(Lane), threads.count());
  const auto kept = [&](int stripe) { return all_kept + stripe * ends_bytes; };  // where paths down enter it
  std::byte* const kept_up = kept(0);                                            // nothing enters the first
  const auto sweep = [&]<bool kUp>(std::bool_constant<kUp>, int stripe) {
    shared.begin_stripe();
    threads.each([&](int i) {
      const auto scratch = scratch_of<Lane>(i, job, cost_cpu::Candidates<Kind>::bytes_per_entry, memory, threads.count());
      Worker<D, Kind, kPaths, kUp>(job, shared, scratch, stripe).run();
    });
  };
  constexpr std::bool_constant<false> down;
  constexpr std::bool_constant<true> up;

  const int last = job.stripes.count() - 1;
  shared.begin_sweep();
  for (int stripe = 0; stripe <= last; ++stripe) {
    if (stripe > 0) shared.keep(kept(stripe));
    sweep(down, stripe);  // only the sums of the last one stay
  }
  shared.begin_sweep();
  sweep(up, last);
  for (int stripe = last - 1; stripe >= 0; --stripe) {
    shared.keep(kept_up);
    stripe > 0 ? shared.go_on_from(kept(stripe)) : shared.begin_sweep();
    sweep(down, stripe);
    shared.go_on_from(kept_up);
    sweep(up, stripe);
  }
}

// The widest vectors that divide the padded number of disparities.
template <class Lane, class Kind>
void with_lanes(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  const auto run = [&](auto d) {
    if (job.paths == 8) both_sweeps<decltype(d), Kind, 4>(job, memory, threads);
    else both_sweeps<decltype(d), Kind, 2>(job, memory, threads);
  };
  const hn::CappedTag<Lane, 64> wide;
  if (job.padded % static_cast<int>(hn::Lanes(wide)) == 0) run(wide);
  else run(hn::CappedTag<Lane, 32>());
}

template <class Kind>
void match(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  if (job.lane_bytes == 1) with_lanes<std::uint8_t>(job, memory, threads);
  else with_lanes<std::uint16_t>(job, memory, threads);
}

void match_rank(const Job<cost::Rank>& job, std::span<std::byte> m, Threads& t) { match(job, m, t); }
void match_census32(const Job<cost::Census<std::uint32_t>>& job, std::span<std::byte> m, Threads& t) { match(job, m, t); }
void match_census64(const Job<cost::Census<std::uint64_t>>& job, std::span<std::byte> m, Threads& t) { match(job, m, t); }
void match_census_gradient(const Job<cost::CensusGradient>& job, std::span<std::byte> m, Threads& t) { match(job, m, t); }

}  // namespace stereopsis::sgm_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::sgm_wta {

HWY_EXPORT(match_rank);
HWY_EXPORT(match_census32);
HWY_EXPORT(match_census64);
HWY_EXPORT(match_census_gradient);

namespace {

auto dispatch(const cost::Rank&) { return HWY_DYNAMIC_DISPATCH(match_rank); }
auto dispatch(const cost::Census<std::uint32_t>&) { return HWY_DYNAMIC_DISPATCH(match_census32); }
auto dispatch(const cost::Census<std::uint64_t>&) { return HWY_DYNAMIC_DISPATCH(match_census64); }
auto dispatch(const cost::CensusGradient&) { return HWY_DYNAMIC_DISPATCH(match_census_gradient); }

}  // namespace

template <class Kind>
std::size_t workspace_bytes(const Parameters& p, const Kind& kind, Size size, int disparities, int threads, int stripe_rows) {
  const Extent extent(size, disparities, stripe_rows);
  const std::size_t lane = path_bytes_per_cell(p.sgm, kind.max_cost());
  const std::size_t candidate = cost::HWY_NAMESPACE::Candidates<Kind>::bytes_per_entry;
  return extent.sums_bytes() + extent.shared_bytes(lane, threads) + extent.kept_bytes(lane, threads) + threads * extent.scratch_bytes(lane, candidate);
}

template <class Kind>
void cpu(const Parameters& p, const Input<Kind>& in, const wta::Output& out, std::span<std::byte> workspace, Threads& threads) {
  sgm::check(p.sgm, in.source.kind.max_cost());
  const Job<Kind> job(p, in, out, workspace);
  dispatch(in.source.kind)(job, workspace.subspan(job.sums_bytes()), threads);
}

#define STEREOPSIS_INSTANCE(Kind)                                                                           \
  template std::size_t workspace_bytes(const Parameters&, const Kind&, Size, int disparities, int threads, int); \
  template void cpu(const Parameters&, const Input<Kind>&, const wta::Output&, std::span<std::byte>, Threads&);
STEREOPSIS_INSTANCE(cost::Rank)
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::CensusGradient)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm_wta
#endif
