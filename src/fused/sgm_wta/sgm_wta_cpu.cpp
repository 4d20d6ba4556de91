#include "fused/sgm_wta/sgm_wta.hpp"

#include "device/cpu/threads.hpp"
#include "fused/sgm_wta/sgm_wta_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused/sgm_wta/sgm_wta_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
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

// One thread's work on the bands that it takes. Columns u and rows v are counted along the sweep: the sweep up is the
// sweep down of the image turned by 180°.
template <class D, class Kind, int kPaths>
class Worker {
  using Lane = hn::TFromD<D>;
  using Word = typename Kind::Word;
  using Candidates = cost_cpu::Candidates<Kind>;

 public:
  Worker(const Job<Kind>& job, int stripe, Sweep<Lane>& down, Sweep<Lane>& up, Scratch<Lane> scratch)
      : job_(job),
        bands_(job.bands(stripe)),
        first_y_(job.stripes.first_row(stripe)),
        end_y_(first_y_ + job.stripes.rows_of(stripe)),
        sweeps_{&down, &up},
        scratch_(scratch) {
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
      if (band.selects)
        visit_tile<true>(tile);
      else
        visit_tile<false>(tile);
      if (tile == job_.tiles() - 1) hwy::FlushStream();
      sweep_->finish_tile(band.order, tile);
    }
    if (band.selects && wants_right())
      for (int r = 0; r < rows_; ++r) end_row(r);
  }

 private:
  struct Row {
    int y;
    const Word* left;
    Candidates candidates;
    const Lane* p2;
    std::uint16_t* sums;
    Lane* paths[kPaths] = {};  // those that cross its column 0
  };

  int image_x(int u) const { return up_ ? job_.width - 1 - u : u; }

  void begin_row(int r, int v, bool selects) {
    const int y = up_ ? job_.height - 1 - v : v;
    Candidates candidates(job_.source.kind, scratch_.candidates(r), job_.candidates());
    candidates.load(job_.source.right.row(y), job_.width, job_.select.min_disparity, job_.padded);
    Row& row = row_[r].emplace(Row{y, job_.source.left.row(y), candidates, scratch_.penalties(r),
                                   job_.sums + static_cast<std::ptrdiff_t>(y - first_y_) * job_.width * job_.padded});
    row.paths[0] = start_path(scratch_.path(r), job_.padded);
    row.paths[1] = sweep_->vertical(v);
    if constexpr (kPaths == 4) {
      row.paths[2] = sweep_->diagonal(v);
      row.paths[3] = sweep_->antidiagonal(v);
    }
    // Paths start in the first row, and at the borders.
    for (int u = 0; u < job_.width; ++u) {
      const std::ptrdiff_t place = u * sweep_->stride();
      if (v == 0) start_path(row.paths[1] + place, job_.padded);
      if constexpr (kPaths == 4) {
        if (v == 0 || u == 0) start_path(row.paths[2] + place, job_.padded);
        if (v == 0 || u == job_.width - 1) start_path(row.paths[3] + place, job_.padded);
      }
      if (v > 0) u = std::max(u, job_.width - 2);
    }
    if (!job_.guide.empty()) set_penalties(r, v, y);
    if (selects && wants_right()) wta_cpu::clear(right_row(r), job_.width + job_.padded);
  }

  // P2 of all paths that come to the pixels of a row; it does not matter where one starts.
  void set_penalties(int r, int v, int y) {
    const int step = up_ ? -1 : 1, width = job_.width;
    const std::uint8_t* here = job_.guide.row(y);
    const std::uint8_t* before = job_.guide.row(v > 0 ? y - step : y);
    Lane* p2 = scratch_.penalties(r);
    for (int u = 0; u < width; ++u, p2 += kPaths) {
      const int x = image_x(u), left = std::max(0, x - 1), right = std::min(width - 1, x + 1);
      const auto penalty = [&](int other) { return static_cast<Lane>(job_.penalties[std::abs(here[x] - other)]); };
      p2[0] = penalty(here[up_ ? right : left]);
      p2[1] = penalty(before[x]);
      if constexpr (kPaths == 4) {
        p2[2] = penalty(before[up_ ? right : left]);
        p2[3] = penalty(before[up_ ? left : right]);
      }
    }
  }

  // Each row is two columns behind the row before: what a pixel follows from was visited in an earlier step, so that
  // the processor works on the pixels of a step at a time.
  template <bool kSelects>
  void visit_tile(int tile) {
    for (int step = tile * tile_columns; step < (tile + 1) * tile_columns; ++step) {
      for (int r = 0; r < rows_; ++r) {
        const int u = step - row_lag * r;
        if (u >= 0 && u < job_.width) visit<kSelects>(r, u);
      }
      if constexpr (kSelects) select(step);
    }
  }

  template <bool kSelects>
  HWY_INLINE void visit(int r, int u) {
    const Row& here = *row_[r];
    const int x = image_x(u), padded = job_.padded;
    Lane* paths[kPaths];
    paths[0] = here.paths[0];
    for (int i = 1; i < kPaths; ++i) paths[i] = here.paths[i] + u * sweep_->stride();

    const Word left = here.left[x];
    const Candidates candidates = here.candidates;
    const int first = job_.width - 1 - x;
    const Lane* padding = scratch_.padding();
    const auto block_costs = [&](int k) HWY_ATTR {
      const D d;
      return hn::Or(candidates.block(d, left, first + k), hn::Load(d, padding + k));
    };
    const auto extend = [&](auto&& take_sums) HWY_ATTR {
      sgm_cpu::extend_paths(D(), paths, -guard<Lane> / 2, here.p2 + kPaths * u, static_cast<Lane>(job_.p1), padded,
                            block_costs, take_sums);
    };
    std::uint16_t* stored = here.sums + static_cast<std::ptrdiff_t>(x) * padded;
    if constexpr (kSelects) {
      prefetch(stored, u);
      std::uint16_t* total = scratch_.total(r);
      extend([&](int k, auto sums) HWY_ATTR {
        const hn::DFromV<decltype(sums)> d16;
        hn::Store(hn::Add(sums, hn::Load(d16, stored + k)), d16, total + k);
      });
      if (padded > job_.disparities) std::fill(total + job_.disparities, total + padded, wta_cpu::no_cost);
      take_candidates(r, x, here.y, total);
    } else {
      extend([&](int k, auto sums) HWY_ATTR {
        const hn::DFromV<decltype(sums)> d16;
        hn::Stream(sums, d16, stored + k);
      });
    }
  }

  // The stored sums come from memory, in an order that the hardware does not foresee: 1.2 times as fast as without.
  void prefetch(const std::uint16_t* stored, int u) const {
    constexpr int ahead = 8;  // pixels
    if (u + ahead >= job_.width) return;
    const std::uint16_t* then = stored + static_cast<std::ptrdiff_t>(up_ ? -ahead : ahead) * job_.padded;
    for (int k = 0; k < job_.padded; k += 32) hwy::Prefetch(then + k);
  }

  // Brings a pixel's sums to the right view; then leaves those of its candidates.
  HWY_INLINE void take_candidates(int r, int x, int y, std::uint16_t* total) {
    const auto& in = job_.select;
    if (wants_right() && usable(in.mask_left, x, y)) {
      if (up_)
        wta_cpu::update<true>(right_row(r), job_.width - 1 - x, total, job_.padded);
      else
        wta_cpu::update<false>(right_row(r), job_.width - 1 - x, total, job_.padded);
    }
    const auto range = wta::candidates(job_.select_parameters, x, job_.width, in.min_disparity, job_.disparities);
    if (range.first > 0) std::fill_n(total, std::min(range.first, job_.disparities), wta_cpu::no_cost);
    if (range.last < job_.disparities - 1)
      std::fill(total + std::max(range.last + 1, 0), total + job_.disparities, wta_cpu::no_cost);
    if (!in.mask_right.empty())
      for (int k = 0; k < job_.disparities; ++k)
        if (in.mask_right.clamped(x - in.min_disparity - k, y) == 0) total[k] = wta_cpu::no_cost;
  }

  // The pixels of a step.
  HWY_INLINE void select(int step) {
    const bool want_confidence = !job_.out.confidence.empty();
    wta_cpu::SelectedBatch selected;
    wta_cpu::select(job_.select_parameters, {scratch_.total(0), job_.total_entries(), job_.padded},
                    job_.select.min_disparity, want_confidence, selected);
    for (int r = 0; r < rows_; ++r) {
      const int u = step - row_lag * r;
      if (u < 0 || u >= job_.width) continue;
      const int x = image_x(u), y = row_[r]->y;
      const bool masked = !usable(job_.select.mask_left, x, y);
      job_.out.disparity(x, y) = masked ? invalid_disparity : selected.disparity[r];
      job_.out.validity(x, y) = masked ? validity::masked : static_cast<std::uint8_t>(selected.validity[r]);
      if (want_confidence) job_.out.confidence(x, y) = masked ? 0.0f : selected.confidence[r];
    }
  }

  void end_row(int r) {
    const int y = row_[r]->y;
    const auto& mask = job_.select.mask_right;
    wta_cpu::finish(right_row(r), job_.width, job_.disparities, job_.select.min_disparity,
                    mask.empty() ? nullptr : mask.row(y), job_.out.right.row(y));
  }

  static bool usable(const ImageView<const std::uint8_t>& mask, int x, int y) {
    return mask.empty() || mask(x, y) != 0;
  }
  bool wants_right() const { return !job_.out.right.empty(); }
  wta_cpu::RightRow right_row(int r) const { return {scratch_.right_cost(r), scratch_.right_index(r)}; }

  const Job<Kind>& job_;
  const int bands_, first_y_, end_y_;  // of the stripe
  Sweep<Lane>* const sweeps_[2];
  Scratch<Lane> scratch_;
  // Of the band in work:
  bool up_ = false;
  Sweep<Lane>* sweep_ = nullptr;
  int rows_ = 0;
  std::optional<Row> row_[band_rows];
};

static_assert(wta_cpu::batch == band_rows);

template <class D, class Kind, int kPaths>
void both_sweeps(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  using Lane = hn::TFromD<D>;
  constexpr std::size_t candidate_bytes = cost_cpu::Candidates<Kind>::bytes_per_entry;
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
    sweep(Turn::down, stripe);  // for the ends of its paths
    down.keep(job.stripes.first_row(stripe + 1), kept(stripe + 1));
  }
  if (last == 0) return sweep(Turn::both, 0);
  for (int stripe = last; stripe >= 0; --stripe) {
    if (stripe > 0) down.go_on_from(job.stripes.first_row(stripe), kept(stripe));
    sweep(Turn::down, stripe);
    sweep(Turn::up, stripe);
  }
}

// The widest vectors that divide the padded number of disparities.
template <class Lane, class Kind>
void with_lanes(const Job<Kind>& job, std::span<std::byte> memory, Threads& threads) {
  const auto run = [&](auto d) {
    if (job.directions == 4)
      both_sweeps<decltype(d), Kind, 4>(job, memory, threads);
    else
      both_sweeps<decltype(d), Kind, 2>(job, memory, threads);
  };
  const hn::CappedTag<Lane, 64> wide;
  if (job.padded % static_cast<int>(hn::Lanes(wide)) == 0)
    run(wide);
  else
    run(hn::CappedTag<Lane, 32>());
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
std::size_t workspace_bytes(const Parameters& p, const Kind& kind, Size size, int disparities, int threads,
                            int stripe_rows) {
  const Extent extent(size, disparities, p.sgm.paths / 2, stripe_rows);
  const std::size_t lane = path_bytes_per_cell(p.sgm, kind.max_cost());
  const std::size_t candidate = cost::HWY_NAMESPACE::Candidates<Kind>::bytes_per_entry;
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
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm_wta
#endif
