// Semi-global matching on the CPU, in two sweeps, first from the top and then from the bottom. Each sweep follows half
// of the paths. The second sweep adds its sums to those of the first sweep (sgm_sweep.hpp).
#include "device/cpu/threads.hpp"
#include "stages/sgm/sgm_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/sgm/sgm_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/sgm/sgm_cpu-inl.hpp"

#ifndef STEREOPSIS_SGM_CPU_JOB
#define STEREOPSIS_SGM_CPU_JOB
namespace stereopsis::sgm {

template <class T>
struct Job : Extent {
  Job(const Parameters& p, VolumeView<const T> costs_, int max_cost_, ImageView<const std::uint8_t> guide_,
      const Edges& edges_, VolumeView<std::uint16_t> sums_, std::span<std::byte> scratch_)
      : Extent(p, sizeof(T), max_cost_, {costs_.width, costs_.height}, costs_.disparities),
        costs(costs_),
        max_cost(max_cost_),
        p1(p.p1),
        penalties(sgm::penalties(p)),
        edges(edges_),
        sums(sums_),
        scratch(scratch_) {
    if (p.adaptive()) guide = guide_;
  }

  VolumeView<const T> costs;
  int max_cost, p1;
  Penalties penalties;
  ImageView<const std::uint8_t> guide;  // guide image; empty if P2 is constant
  Edges edges;
  VolumeView<std::uint16_t> sums;
  std::span<std::byte> scratch;
};

}  // namespace stereopsis::sgm
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Processes the bands that are assigned to a thread. Columns u and rows v are counted in the direction of the sweep:
// the upward sweep is the downward sweep of the image rotated by 180°.
template <class D, class T, int kPaths, bool kUp>
class Worker {
  using Lane = hn::TFromD<D>;
  using D16 = hn::Repartition<std::uint16_t, D>;

 public:
  Worker(const Job<T>& job, Progress& progress, int thread)
      : job_(job),
        progress_(progress),
        visited_(round_up(job.disparities, static_cast<int>(hn::Lanes(D())))),
        padding_(reinterpret_cast<Lane*>(job.scratch.data())),
        stride_(static_cast<std::ptrdiff_t>(job.path_bytes / sizeof(Lane))),
        paths_({job.width, job.height}, job.disparities, job.directions, padding_ + stride_ + guard, stride_),
        horizontal_(reinterpret_cast<Lane*>(job.scratch.data() + job.paths_bytes() + job.progress_bytes() +
                                            thread * job.thread_bytes()) +
                    guard),
        p1_(repeated(static_cast<Lane>(job.p1))) {
    for (int i = 0; i < 256; ++i) penalties_[i] = repeated(static_cast<Lane>(job.penalties[i]));
  }

  void run() {
    for (int band; (band = progress_.take()) < progress_.bands();) {
      first_v_ = band * band_rows;
      rows_ = std::min(band_rows, job_.height - first_v_);
      for (int r = 0; r < rows_; ++r) start_paths(r);
      for (int tile = 0; tile < job_.tiles(); ++tile) {
        if (band > 0) progress_.wait_for(band - 1, std::min(tile + 2, job_.tiles()));
        visit_tile(tile);
        progress_.finish_tile(band, tile);
      }
    }
  }

 private:
  static constexpr int guard = Paths<Lane>::guard;
  static constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

  void start_paths(int r) const {
    paths_.start(horizontal_ + r * stride_, visited_);
    paths_.enter(first_v_ + r, kUp, kUp ? job_.edges.below : job_.edges.above, visited_);
  }

  // If vectors are wide, a small number of disparities stays in registers.
  void visit_tile(int tile) const {
    constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
    if constexpr (sizeof(Lane) == 1 && lanes >= 32) {
      if (visited_ == lanes) return visit_tile<1>(tile);
      if (visited_ == 2 * lanes) return visit_tile<2>(tile);
    }
    visit_tile<0>(tile);
  }
  // Each row lags two columns behind the previous row, so that all predecessors of a pixel were visited in an earlier
  // step. The processor can therefore process all pixels of a step at the same time.
  template <int kBlocks>
  void visit_tile(int tile) const {
    for (int step = 0; step < tile_columns; ++step)
      for (int r = 0; r < rows_; ++r) {
        const int u = tile * tile_columns + step - row_lag * r;
        if (u >= 0 && u < job_.width) visit<kBlocks>(r, u);
      }
  }

  template <int kBlocks>
  HWY_INLINE void visit(int r, int u) const {
    const D d;
    const int v = first_v_ + r;
    const int x = kUp ? job_.width - 1 - u : u, y = kUp ? job_.height - 1 - v : v;
    Lane* paths[kPaths];
    paths[0] = horizontal_ + r * stride_;
    paths[1] = paths_.vertical() + u * stride_;
    if constexpr (kPaths == 4) {
      paths[2] = paths_.diagonal(v) + u * stride_;
      paths[3] = paths_.antidiagonal(v) + u * stride_;
    }
    std::uint32_t p2[kPaths];
    set_penalties(x, y, p2);
    const T* costs = job_.costs.pixel(x, y);
    std::uint16_t* sums = job_.sums.pixel(x, y);
    const auto most = hn::Set(d, static_cast<Lane>(job_.max_cost));
    const PixelCosts pixel{[&](int k) HWY_ATTR { return hn::Min(load(costs + k), most); },
                           [&](int k) HWY_ATTR { return hn::Load(d, padding_ + k); }};
    const auto take = [&](int k, hn::VFromD<D>, const hn::VFromD<D>(&path_costs)[kPaths]) HWY_ATTR {
      Sums<D> block;
      sum_paths(d, path_costs, block);
      in_order(d, block);
      for (auto& part : block) {
        put(part, sums + k, job_.disparities - k);
        k += static_cast<int>(hn::Lanes(D16()));
      }
    };
    extend_paths<kBlocks, Part::whole, false>(d, paths, p1_, p2, 1,
                                              kBlocks > 0 ? kBlocks * static_cast<int>(hn::Lanes(d)) : visited_,
                                              hwy::LimitsMax<Lane>(), pixel, take);
  }

  HWY_INLINE void set_penalties(int x, int y, std::uint32_t (&p2)[kPaths]) const {
    if (job_.guide.empty()) {
      for (std::uint32_t& penalty : p2) penalty = penalties_[0];
      return;
    }
    constexpr int step = kUp ? -1 : 1;
    const int here = job_.guide(x, y);
    const bool comes_in = !(kUp ? job_.edges.below : job_.edges.above).empty();
    const auto from = [&](int dx, int dy) {
      const int before = comes_in ? y - dy : std::clamp(y - dy, 0, job_.height - 1);
      return penalties_[std::abs(here - job_.guide(std::clamp(x - dx, 0, job_.width - 1), before))];
    };
    p2[0] = from(step, 0);
    p2[1] = from(0, step);
    if constexpr (kPaths == 4) {
      p2[2] = from(step, step);
      p2[3] = from(-step, step);
    }
  }

  static HWY_INLINE hn::VFromD<D> load(const T* costs) {
    const D d;
    if constexpr (sizeof(T) == sizeof(Lane))
      return hn::LoadU(d, costs);
    else
      return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), costs));
  }
  // Stores sums, of which the first `count` belong to the pixel. The second sweep adds its own sums.
  static HWY_INLINE void put(hn::VFromD<D16> sums, std::uint16_t* stored, int count) {
    const D16 d;
    if (count >= static_cast<int>(hn::Lanes(d))) {
      if constexpr (kUp) sums = hn::Add(sums, hn::LoadU(d, stored));
      hn::StoreU(sums, d, stored);
    } else if (count > 0) {
      HWY_ALIGN std::uint16_t part[hn::MaxLanes(d)];
      hn::Store(sums, d, part);
      for (int i = 0; i < count; ++i) stored[i] = static_cast<std::uint16_t>((kUp ? stored[i] : 0) + part[i]);
    }
  }

  const Job<T>& job_;
  Progress& progress_;
  const int visited_;  // disparities
  Lane* const padding_;
  const std::ptrdiff_t stride_;
  const Paths<Lane> paths_;
  Lane* const horizontal_;
  const std::uint32_t p1_;  // value repeated in a word, as is P2 for each difference
  std::uint32_t penalties_[256];
  // The current band:
  int first_v_ = 0, rows_ = 0;
};

template <class D, class T, int kPaths, bool kUp>
void sweep(const Job<T>& job, Threads& threads) {
  Progress progress(job.scratch.data() + job.paths_bytes(), job.bands());
  threads.each([&](int thread) { Worker<D, T, kPaths, kUp>(job, progress, thread).run(); });
}

template <class Lane, class T>
void both_sweeps(const Job<T>& job, Threads& threads) {
  using D = hn::CappedTag<Lane, 64>;
  Lane* const padding = reinterpret_cast<Lane*>(job.scratch.data());
  std::fill_n(padding, job.path_bytes / sizeof(Lane), static_cast<Lane>(~0));
  std::fill_n(padding, job.disparities, Lane{0});
  if (job.directions == 4) {
    sweep<D, T, 4, false>(job, threads);
    sweep<D, T, 4, true>(job, threads);
  } else {
    sweep<D, T, 2, false>(job, threads);
    sweep<D, T, 2, true>(job, threads);
  }
}

void sum_u8(const Job<std::uint8_t>& job, Threads& threads) {
  if (job.lane_bytes == 1)
    both_sweeps<std::uint8_t>(job, threads);
  else
    both_sweeps<std::uint16_t>(job, threads);
}
void sum_u16(const Job<std::uint16_t>& job, Threads& threads) { both_sweeps<std::uint16_t>(job, threads); }

}  // namespace stereopsis::sgm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::sgm {

HWY_EXPORT(sum_u8);
HWY_EXPORT(sum_u16);

template <class T>
std::size_t scratch_bytes(const Parameters& p, int max_cost, Size size, int disparities, int threads) {
  return Extent(p, sizeof(T), max_cost, size, disparities).bytes(threads);
}

template <class T>
void cpu(const Parameters& p, VolumeView<const T> costs, int max_cost, ImageView<const std::uint8_t> guide,
         const Edges& edges, VolumeView<std::uint16_t> sums, std::span<std::byte> scratch, Threads& threads) {
  check(p, max_cost);
  const Job<T> job(p, costs, max_cost, guide, edges, sums, scratch);
  if constexpr (sizeof(T) == 1)
    HWY_DYNAMIC_DISPATCH(sum_u8)(job, threads);
  else
    HWY_DYNAMIC_DISPATCH(sum_u16)(job, threads);
}

#define STEREOPSIS_INSTANCE(T)                                                                                \
  template std::size_t scratch_bytes<T>(const Parameters&, int, Size, int, int);                              \
  template void cpu(const Parameters&, VolumeView<const T>, int, ImageView<const std::uint8_t>, const Edges&, \
                    VolumeView<std::uint16_t>, std::span<std::byte>, Threads&);
STEREOPSIS_INSTANCE(std::uint8_t)
STEREOPSIS_INSTANCE(std::uint16_t)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm
#endif
