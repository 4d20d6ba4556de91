#include "fused/sgm_wta/sgm_wta.hpp"

#include "device/cpu/threads.hpp"
#include "fused/sgm_wta/sgm_wta_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/sgm_wta/sgm_wta_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "fused/sgm_wta/sgm_wta_cpu_penalties-inl.hpp"
#include "fused/sgm_wta/sgm_wta_cpu_select-inl.hpp"
#include "fused/sgm_wta/sgm_wta_cpu_visit-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Processes the bands that are assigned to a thread. Columns u and rows v are counted in the direction of the sweep:
// the upward sweep is the downward sweep of the image rotated by 180°.
template <class D, class Kind, int kPaths>
class Worker {
  using Lane = hn::TFromD<D>;
  using Row = typename Visitor<D, Kind, kPaths>::Row;

 public:
  Worker(const Job<Kind>& job, int stripe, Sweep<Lane>& down, Sweep<Lane>& up, Scratch<Lane> scratch)
      : job_(job),
        bands_(job.bands(stripe)),
        first_y_(job.stripes.first_row(stripe)),
        end_y_(first_y_ + job.stripes.rows_of(stripe)),
        visited_(visited<D>(job)),
        sweeps_{&down, &up},
        scratch_(scratch),
        penalties_(job.penalties, job.guide, job.edges),
        selection_(job, job.select, job.select_parameters, job.out),
        visitor_(job, scratch_, selection_) {
    if (job.guide.empty())
      std::fill_n(scratch.penalties(0), static_cast<std::ptrdiff_t>(band_rows) * kPaths * job.width,
                  static_cast<Lane>(job.penalties[0]));
  }

  void run(const Bands::Band& band) {
    const int in_stripe = band.up ? bands_ - 1 - band.order : band.order;
    const int first_y = first_y_ + in_stripe * band_rows, last_y = std::min(end_y_, first_y + band_rows) - 1;
    up_ = band.up;
    sweep_ = sweeps_[up_];
    rows_ = last_y - first_y + 1;
    for (int r = 0; r < rows_; ++r) begin_row(r, up_ ? job_.height - 1 - last_y + r : first_y + r, band.selects);
    if (band.selects) sweeps_[!up_]->wait_for(bands_ - 1 - band.order, job_.tiles());
    for (int tile = 0; tile < job_.tiles(); ++tile) {
      if (band.order > 0) sweep_->wait_for(band.order - 1, std::min(tile + 2, job_.tiles()));
      visit_tile(band.selects, tile);
      if (tile == job_.tiles() - 1) hwy::FlushStream();
      sweep_->finish_tile(band.order, tile);
    }
    if (band.selects && selection_.wants_right())
      for (int r = 0; r < rows_; ++r) selection_.deliver_right(row_[r]->right, row_[r]->y);
  }

 private:
  void begin_row(int r, int v, bool selects) {
    const int y = up_ ? job_.height - 1 - v : v;
    Row& row = row_[r].emplace(Row{y,
                                   CostRow<Kind>(job_, y, scratch_.candidates(r)),
                                   scratch_.penalties(r),
                                   job_.sums + job_.row_bytes() * (y - first_y_),
                                   scratch_.total(r),
                                   {scratch_.right_cost(r), scratch_.right_index(r)}});
    const sgm::Paths<Lane>& paths = sweep_->paths();
    row.paths[0] = paths.start(scratch_.path(r), visited_);
    row.paths[1] = paths.vertical();
    if constexpr (kPaths == 4) {
      row.paths[2] = paths.diagonal(v);
      row.paths[3] = paths.antidiagonal(v);
    }
    paths.enter(v, up_, up_ ? job_.edges.below : job_.edges.above, visited_);
    if (!job_.guide.empty()) penalties_.template set<kPaths>(y, up_, scratch_.penalties(r));
    if (selects && selection_.wants_right()) wta_cpu::clear(row.right, job_.width + job_.padded);
  }

  // Each row lags two columns behind the previous row, so that all predecessors of a pixel were visited in an earlier
  // step. The processor can therefore process all pixels of a step at the same time.
  template <bool kSelects, int kBlocks>
  void visit_tile(int tile) {
    const int rows = rows_, width = job_.width, start = tile * tile_columns;
    const std::ptrdiff_t stride = sweep_->paths().stride();
    const bool up = up_;
    for (int r = 0; r < rows; ++r) {
      const int u = start - row_lag * r;
      row_[r]->begin_tile(up ? width - tile_columns - u : u, width);
    }
    const wta_cpu::Costs totals{scratch_.total(0), job_.total_entries(), visitor_.template visited_of<kBlocks>()};
    for (int step = 0; step < tile_columns; ++step) {
      const int column = up ? tile_columns - 1 - step : step;
      for (int r = 0; r < rows; ++r) {
        const int u = start + step - row_lag * r;
        if (u >= 0 && u < width) visitor_.template visit<kSelects, kBlocks>(*row_[r], column, u * stride, up);
      }
      if constexpr (kSelects) selection_.find_winners(totals, column);
    }
    if constexpr (kSelects)
      for (int r = 0; r < rows; ++r) selection_.deliver(r, row_[r]->y, row_[r]->x);
  }
  template <int kBlocks>
  void visit_tile(bool selects, int tile) {
    if (selects)
      visit_tile<true, kBlocks>(tile);
    else
      visit_tile<false, kBlocks>(tile);
  }
  // In the common case of few disparities, the 8-bit lanes stay in registers if vectors are wide. If half of the widest
  // vector is sufficient, only half is used.
  void visit_tile(bool selects, int tile) {
    constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
    constexpr bool widest = lanes == hn::MaxLanes(hn::CappedTag<Lane, 64>());
    if constexpr (!widest) {
      visit_tile<1>(selects, tile);
    } else {
      if constexpr (sizeof(Lane) == 1 && lanes >= 32) {
        if (visited_ == lanes) return visit_tile<1>(selects, tile);
        if (visited_ == 2 * lanes) return visit_tile<2>(selects, tile);
      }
      visit_tile<0>(selects, tile);
    }
  }

  const Job<Kind>& job_;
  const int bands_, first_y_, end_y_;  // rows and bands of the stripe
  const int visited_;                  // disparities
  Sweep<Lane>* const sweeps_[2];
  Scratch<Lane> scratch_;
  const AdaptivePenalties<Lane> penalties_;
  Selection selection_;
  const Visitor<D, Kind, kPaths> visitor_;
  // state of the current band:
  bool up_ = false;
  Sweep<Lane>* sweep_ = nullptr;
  int rows_ = 0;
  std::optional<Row> row_[band_rows];
};

template <class D, class Kind, int kPaths>
void both_sweeps(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  using Lane = hn::TFromD<D>;
  constexpr std::size_t candidate_bytes = bytes_of_candidate<Kind>;
  const auto take = [&](std::size_t bytes) {
    const Pieces pieces(memory);
    memory = memory.subspan(bytes);
    return pieces;
  };
  Sweep<Lane> down(job, take(job.sweep_bytes(sizeof(Lane)))), up(job, take(job.sweep_bytes(sizeof(Lane))));
  std::byte* const all_kept = take(job.kept_bytes(sizeof(Lane))).template take<std::byte>(0);
  const auto kept = [&](int stripe) { return all_kept + (stripe - 1) * job.ends_bytes(sizeof(Lane)); };
  const auto sweep = [&](Turn turn, int stripe) {
    if (turn != Turn::up) down.begin_stripe();
    if (turn != Turn::down) up.begin_stripe();
    Bands bands(job.bands(stripe), turn);
    threads.each([&](int thread) {
      const Pieces pieces(memory.subspan(thread * with_gap(job.scratch_bytes(sizeof(Lane), candidate_bytes))));
      Worker<D, Kind, kPaths> worker(job, stripe, down, up, Scratch<Lane>(job, candidate_bytes, pieces));
      while (const auto band = bands.take(thread % 2 == 1)) worker.run(*band);
    });
  };

  const int last = job.stripes.count() - 1;
  for (int stripe = 0; stripe < last; ++stripe) {
    sweep(Turn::down, stripe);  // compute the states at the ends of the stripe's paths
    down.keep(job.stripes.first_row(stripe + 1), kept(stripe + 1));
  }
  if (last == 0) return sweep(Turn::both, 0);
  for (int stripe = last; stripe >= 0; --stripe) {
    if (stripe > 0) down.go_on_from(job.stripes.first_row(stripe), kept(stripe));
    sweep(Turn::down, stripe);
    sweep(Turn::up, stripe);
  }
}

// Selects the widest vectors, or half of them if half a vector holds all disparities.
template <class Lane, class Kind>
void with_lanes(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  const auto run = [&](auto d) {
    if (job.directions == 4)
      both_sweeps<decltype(d), Kind, 4>(job, memory, threads);
    else
      both_sweeps<decltype(d), Kind, 2>(job, memory, threads);
  };
  const hn::CappedTag<Lane, 64> widest;
  if constexpr (hn::MaxLanes(widest) > 32)
    if (job.padded == 32) return run(hn::CappedTag<Lane, 32>());
  run(widest);
}

template <class Kind>
void match(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  if (job.lane_bytes == 1)
    with_lanes<std::uint8_t>(job, memory, threads);
  else
    with_lanes<std::uint16_t>(job, memory, threads);
}

void match_rank(const Job<cost::Rank>& job, std::span<std::byte> m, Threads& t) { match(job, m, t); }
void match_census32(const Job<cost::Census<std::uint32_t>>& job, std::span<std::byte> m, Threads& t) {
  match(job, m, t);
}
void match_census64(const Job<cost::Census<std::uint64_t>>& job, std::span<std::byte> m, Threads& t) {
  match(job, m, t);
}
void match_census_gradient(const Job<cost::CensusGradient>& job, std::span<std::byte> m, Threads& t) {
  match(job, m, t);
}
void match_given(const Job<cost::Given>& job, std::span<std::byte> m, Threads& t) { match(job, m, t); }

}  // namespace stereopsis::sgm_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::sgm_wta {

HWY_EXPORT(match_rank);
HWY_EXPORT(match_census32);
HWY_EXPORT(match_census64);
HWY_EXPORT(match_census_gradient);
HWY_EXPORT(match_given);

namespace {

auto dispatch(const cost::Rank&) { return HWY_DYNAMIC_DISPATCH(match_rank); }
auto dispatch(const cost::Census<std::uint32_t>&) { return HWY_DYNAMIC_DISPATCH(match_census32); }
auto dispatch(const cost::Census<std::uint64_t>&) { return HWY_DYNAMIC_DISPATCH(match_census64); }
auto dispatch(const cost::CensusGradient&) { return HWY_DYNAMIC_DISPATCH(match_census_gradient); }
auto dispatch(const cost::Given&) { return HWY_DYNAMIC_DISPATCH(match_given); }

}  // namespace

template <class Kind>
std::size_t workspace_bytes(const Parameters& p, const Kind& kind, Size size, int disparities, int threads,
                            int stripe_rows) {
  const Extent extent(p, kind, size, disparities, stripe_rows);
  const std::size_t lane = extent.lane_bytes, candidate = HWY_NAMESPACE::bytes_of_candidate<Kind>;
  return extent.sums_bytes() + 2 * extent.sweep_bytes(lane) + extent.kept_bytes(lane) +
         threads * with_gap(extent.scratch_bytes(lane, candidate));
}

template <class Kind>
void cpu(const Parameters& p, const Input<Kind>& in, const wta::Output& out, std::span<std::byte> workspace,
         Threads& threads) {
  sgm::check(p.sgm, in.source.kind.max_cost());
  const Job<Kind> job(p, in, out, workspace);
  dispatch(in.source.kind)(job, workspace.subspan(job.sums_bytes()), threads);
}

#define STEREOPSIS_INSTANCE(Kind)                                                                                \
  template std::size_t workspace_bytes(const Parameters&, const Kind&, Size, int disparities, int threads, int); \
  template void cpu(const Parameters&, const Input<Kind>&, const wta::Output&, std::span<std::byte>, Threads&);
STEREOPSIS_INSTANCE(cost::Rank)
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::CensusGradient)
STEREOPSIS_INSTANCE(cost::Given)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm_wta
#endif
