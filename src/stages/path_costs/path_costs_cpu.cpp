// Path costs on the CPU. The computation is one sweep, like the two sweeps of stages/sgm (sgm_sweep.hpp), without paths
// along rows and without sums.
#include "device/cpu/threads.hpp"
#include "stages/path_costs/path_costs.hpp"
#include "stages/sgm/sgm_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/path_costs/path_costs_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/cost/cost_cpu-inl.hpp"
#include "stages/sgm/sgm_cpu-inl.hpp"

#ifndef STEREOPSIS_PATH_COSTS_JOB
#define STEREOPSIS_PATH_COSTS_JOB
namespace stereopsis::path_costs {

struct Extent : sgm::Extent {
  Extent(const Parameters& p, int max_cost, Size size, int disparities_, std::size_t candidate_bytes_)
      : sgm::Extent(p.sgm, 1, max_cost, size, disparities_),
        padded((disparities + 63) / 64 * 64),
        candidate_bytes(candidate_bytes_) {}

  int candidates() const { return width + padded + 64; }
  std::size_t candidates_bytes() const { return sgm::align64(candidate_bytes * candidates()); }
  // The memory holds the candidates of each row, and the costs of a pixel.
  std::size_t thread_bytes() const { return with_gap(sgm::band_rows * candidates_bytes() + path_bytes); }
  std::size_t bytes(int threads) const { return paths_bytes() + progress_bytes() + threads * thread_bytes(); }

  int padded;
  std::size_t candidate_bytes;
};

template <class Kind>
struct Job : Extent {
  Job(const Parameters& p, const Input<Kind>& in_, ImageView<std::uint16_t> behind_, std::size_t candidate_bytes_,
      std::span<std::byte> scratch_)
      : Extent(p, in_.source.kind.max_cost(), in_.source.left.size(), in_.disparities, candidate_bytes_),
        in(in_),
        p1(p.sgm.p1),
        adaptive(p.sgm.adaptive()),
        up(p.up),
        penalties(sgm::penalties(p.sgm)),
        behind(behind_),
        scratch(scratch_) {}

  const Input<Kind>& in;
  int p1;
  bool adaptive, up;
  sgm::Penalties penalties;
  ImageView<std::uint16_t> behind;
  std::span<std::byte> scratch;
};

}  // namespace stereopsis::path_costs
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::path_costs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace sgm_cpu = stereopsis::sgm::HWY_NAMESPACE;
namespace cost_cpu = stereopsis::cost::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

// The matching costs of the pixels of a row, from the words of both views.
template <class Kind>
class CostRow {
 public:
  CostRow(const Job<Kind>& job, int y, std::byte* memory)
      : width_(job.width),
        words_(job.in.source.left.row(y)),
        candidates_(job.in.source.kind, memory, job.candidates()) {}
  void load(const Job<Kind>& job, int y) {
    candidates_.load(job.in.source.right.row(y), job.width, job.in.min_disparity, job.padded);
  }
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, int x, int k) const {
    return candidates_.block(d, words_[x], width_ - 1 - x + k);
  }

 private:
  int width_;
  const typename Kind::Word* words_;
  cost_cpu::Candidates<Kind> candidates_;
};

template <>
class CostRow<cost::Given> : public cost_cpu::GivenRow {
 public:
  CostRow(const Job<cost::Given>& job, int y, std::byte*) : GivenRow(job.in.source.kind, y) {}
  void load(const Job<cost::Given>&, int) {}
};

// Processes the bands that are assigned to a thread.
template <class D, class Kind, int kKinds>
class Worker {
  using Lane = hn::TFromD<D>;
  using V = hn::VFromD<D>;
  static constexpr int guard = sgm::Paths<Lane>::guard;

 public:
  Worker(const Job<Kind>& job, sgm::Progress& progress, const sgm::Paths<Lane>& paths, int visited, std::byte* memory)
      : job_(job),
        progress_(progress),
        paths_(paths),
        visited_(visited),
        padding_(reinterpret_cast<const Lane*>(job.scratch.data())),
        memory_(memory),
        costs_(reinterpret_cast<Lane*>(memory + sgm::band_rows * job.candidates_bytes())) {}

  void run() {
    for (int band; (band = progress_.take()) < progress_.bands();) {
      first_v_ = band * sgm::band_rows;
      rows_ = std::min(sgm::band_rows, job_.height - first_v_);
      for (int r = 0; r < rows_; ++r) {
        costs(r).load(job_, y_of(r));
        paths_.enter(first_v_ + r, job_.up, job_.in.before, visited_);
      }
      for (int tile = 0; tile < job_.tiles(); ++tile) {
        if (band > 0) progress_.wait_for(band - 1, std::min(tile + 2, job_.tiles()));
        visit_tile(tile);
        progress_.finish_tile(band, tile);
      }
    }
  }

 private:
  int y_of(int r) const { return job_.up ? job_.height - 1 - first_v_ - r : first_v_ + r; }
  CostRow<Kind> costs(int r) const { return {job_, y_of(r), memory_ + r * job_.candidates_bytes()}; }

  // Each row lags two columns behind the previous row, so that all predecessors of a pixel were visited in an earlier
  // step. The processor can therefore process all pixels of a step at the same time.
  void visit_tile(int tile) const {
    for (int step = 0; step < sgm::tile_columns; ++step)
      for (int r = 0; r < rows_; ++r) {
        const int u = tile * sgm::tile_columns + step - sgm::row_lag * r;
        if (u >= 0 && u < job_.width) visit(r, u);
      }
  }

  void visit(int r, int u) const {
    const D d;
    const int v = first_v_ + r, y = y_of(r), x = job_.up ? job_.width - 1 - u : u;
    const CostRow<Kind> row = costs(r);
    for (int k = 0; k < visited_; k += static_cast<int>(hn::Lanes(d)))
      hn::Store(hn::Or(row.block(d, x, k), hn::Load(d, padding_ + k)), d, costs_ + k);

    Lane* paths[kKinds];
    paths[0] = paths_.vertical() + u * paths_.stride();
    if constexpr (kKinds == 3) {
      paths[1] = paths_.diagonal(v) + u * paths_.stride();
      paths[2] = paths_.antidiagonal(v) + u * paths_.stride();
    }
    const int along = job_.up ? -1 : 1;
    const int from[3] = {x, x - along, x + along};
    V lowest[kKinds == 1 ? 2 : 4];
    for (int i = 0; i < kKinds; ++i) lowest[i] = extend(paths[i], penalty(x, y, from[i], y - along));
    for (int i = kKinds; i < (kKinds == 1 ? 2 : 4); ++i) lowest[i] = lowest[0];
    sgm_cpu::spread_minima(d, lowest);
    for (int i = 0; i < kKinds; ++i)
      for (int k = 0; k < visited_; k += static_cast<int>(hn::Lanes(d)))
        hn::Store(hn::Sub(hn::Load(d, paths[i] + k), lowest[i]), d, paths[i] + k);
  }

  // Extends a path by one pixel, and returns the minimum of each lane.
  HWY_INLINE V extend(Lane* path, int p2) const {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const V small = hn::Set(d, static_cast<Lane>(job_.p1)), large = hn::Set(d, static_cast<Lane>(p2));
    V lowest = hn::Set(d, hwy::LimitsMax<Lane>()), below = hn::LoadU(d, path - 1);
    for (int k = 0; k < visited_; k += lanes) {
      const V arriving = sgm_cpu::arrive(below, hn::Load(d, path + k), hn::LoadU(d, path + k + 1), small, large);
      const V extended = hn::SaturatedAdd(arriving, hn::Load(d, costs_ + k));
      lowest = hn::Min(lowest, extended);
      // Loaded before the store overwrites values that the next block needs.
      below = hn::LoadU(d, path + k + lanes - 1);
      hn::Store(extended, d, path + k);
    }
    return lowest;
  }

  int penalty(int x, int y, int from_x, int from_y) const {
    if (!job_.adaptive || from_x < 0 || from_x >= job_.width) return job_.penalties[0];
    if (job_.in.before.empty() && (from_y < 0 || from_y >= job_.height)) return job_.penalties[0];
    return job_.penalties[std::abs(job_.in.guide(x, y) - job_.in.guide(from_x, from_y))];
  }

  const Job<Kind>& job_;
  sgm::Progress& progress_;
  const sgm::Paths<Lane>& paths_;
  const int visited_;  // disparities
  const Lane* const padding_;
  std::byte* const memory_;
  Lane* const costs_;  // matching costs of the current pixel
  int first_v_ = 0, rows_ = 0;
};

template <class Lane, class Kind>
void sweep(const Job<Kind>& job, Threads& threads) {
  using D = hn::CappedTag<Lane, 64>;
  constexpr int guard = sgm::Paths<Lane>::guard;
  const int lanes = static_cast<int>(hn::Lanes(D())), visited = (job.disparities + lanes - 1) / lanes * lanes;
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(job.path_bytes / sizeof(Lane));
  Lane* const padding = reinterpret_cast<Lane*>(job.scratch.data());
  std::fill_n(padding, stride, static_cast<Lane>(~0));
  std::fill_n(padding, job.disparities, Lane{0});
  const sgm::Paths<Lane> paths({job.width, job.height}, job.disparities, job.directions, padding + stride + guard,
                               stride);
  sgm::Progress progress(job.scratch.data() + job.paths_bytes(), job.bands());
  threads.each([&](int thread) {
    std::byte* const memory =
        job.scratch.data() + job.paths_bytes() + job.progress_bytes() + thread * job.thread_bytes();
    if (job.directions == 4)
      Worker<D, Kind, 3>(job, progress, paths, visited, memory).run();
    else
      Worker<D, Kind, 1>(job, progress, paths, visited, memory).run();
  });
  paths.leave(job.up, job.behind);
}

template <class Kind>
void follow(const Job<Kind>& job, Threads& threads) {
  if (job.lane_bytes == 1)
    sweep<std::uint8_t>(job, threads);
  else
    sweep<std::uint16_t>(job, threads);
}

void follow_rank(const Job<cost::Rank>& job, Threads& t) { follow(job, t); }
void follow_census32(const Job<cost::Census<std::uint32_t>>& job, Threads& t) { follow(job, t); }
void follow_census64(const Job<cost::Census<std::uint64_t>>& job, Threads& t) { follow(job, t); }
void follow_census_gradient(const Job<cost::CensusGradient>& job, Threads& t) { follow(job, t); }
void follow_given(const Job<cost::Given>& job, Threads& t) { follow(job, t); }

}  // namespace stereopsis::path_costs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::path_costs {

HWY_EXPORT(follow_rank);
HWY_EXPORT(follow_census32);
HWY_EXPORT(follow_census64);
HWY_EXPORT(follow_census_gradient);
HWY_EXPORT(follow_given);

namespace {

auto dispatch(const cost::Rank&) { return HWY_DYNAMIC_DISPATCH(follow_rank); }
auto dispatch(const cost::Census<std::uint32_t>&) { return HWY_DYNAMIC_DISPATCH(follow_census32); }
auto dispatch(const cost::Census<std::uint64_t>&) { return HWY_DYNAMIC_DISPATCH(follow_census64); }
auto dispatch(const cost::CensusGradient&) { return HWY_DYNAMIC_DISPATCH(follow_census_gradient); }
auto dispatch(const cost::Given&) { return HWY_DYNAMIC_DISPATCH(follow_given); }

template <class Kind>
constexpr std::size_t candidate_bytes = cost::HWY_NAMESPACE::Candidates<Kind>::bytes_per_entry;
template <>
constexpr std::size_t candidate_bytes<cost::Given> = 0;

}  // namespace

template <class Kind>
std::size_t scratch_bytes(const Parameters& p, const Kind& kind, Size size, int disparities, int threads) {
  return Extent(p, kind.max_cost(), size, disparities, candidate_bytes<Kind>).bytes(threads);
}

template <class Kind>
void cpu(const Parameters& p, const Input<Kind>& in, ImageView<std::uint16_t> behind, std::span<std::byte> scratch,
         Threads& threads) {
  sgm::check(p.sgm, in.source.kind.max_cost());
  dispatch(in.source.kind)(Job<Kind>(p, in, behind, candidate_bytes<Kind>, scratch), threads);
}

#define STEREOPSIS_INSTANCE(Kind)                                                     \
  template std::size_t scratch_bytes(const Parameters&, const Kind&, Size, int, int); \
  template void cpu(const Parameters&, const Input<Kind>&, ImageView<std::uint16_t>, std::span<std::byte>, Threads&);
STEREOPSIS_INSTANCE(cost::Rank)
STEREOPSIS_INSTANCE(cost::Census<std::uint32_t>)
STEREOPSIS_INSTANCE(cost::Census<std::uint64_t>)
STEREOPSIS_INSTANCE(cost::CensusGradient)
STEREOPSIS_INSTANCE(cost::Given)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::path_costs
#endif
