// Two sweeps, one from the top and then one from the bottom: each follows half of the paths, and the second one adds its sums
// to those of the first. A sweep visits the image in bands of rows, a band in tiles of columns; a thread takes a band and
// follows the band before at a distance of two tiles. A path keeps its last pixel's costs in one place, so that a tile's paths
// stay in the first-level cache: a vertical path by its column u, a diagonal one by u − v, an antidiagonal one by u + v.
#include "stages/sgm/sgm.hpp"

#include <atomic>
#include <cstring>

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/sgm/sgm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stages/sgm/sgm_cpu-inl.hpp"

#ifndef STEREOPSIS_SGM_SWEEPS
#define STEREOPSIS_SGM_SWEEPS
namespace stereopsis::sgm {

inline constexpr int band_rows = 8;
inline constexpr int tile_columns = 32;
inline constexpr int row_lag = 2;  // columns that a row of a band is behind the row before
static_assert(row_lag * band_rows < tile_columns, "the band before must be ahead by less than two tiles");

constexpr std::size_t align64(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// What the scratch memory is made of. Paths along 8-bit costs stay below 256 if the largest cost and the largest penalty
// together do; they take 8 bits then, else 16.
struct Extent {
  Extent(const Parameters& p, int cost_bytes, int max_cost, Size size, int disparities_)
      : width(size.width),
        height(size.height),
        disparities(disparities_),
        directions(p.paths / 2),
        lane_bytes(cost_bytes == 1 && max_cost + p.p2 <= 255 ? 1 : 2),
        path_bytes(align64(static_cast<std::size_t>(disparities) * lane_bytes) + 64) {}

  int bands() const { return (height + band_rows - 1) / band_rows; }
  int tiles() const { return (width + row_lag * (band_rows - 1) + tile_columns - 1) / tile_columns; }
  // Of the vertical paths; then of the diagonal and the antidiagonal ones, where there are any.
  std::size_t places() const {
    return width + (directions == 4 ? 2 * (static_cast<std::size_t>(width) + height - 1) : 0);
  }
  // The padding lies before the first path, and 64 bytes before each one's costs and behind them.
  std::size_t paths_bytes() const { return (places() + 1) * path_bytes + 64; }
  std::size_t progress_bytes() const { return align64(sizeof(std::atomic<int>) * (bands() + 1)); }
  std::size_t thread_bytes() const { return with_gap((band_rows + 1) * path_bytes); }
  std::size_t bytes(int threads) const { return paths_bytes() + progress_bytes() + threads * thread_bytes(); }

  int width, height, disparities;
  int directions;  // of a sweep: half of all
  int lane_bytes;
  std::size_t path_bytes;  // with what lies around a path's costs
};

// How far the bands of a sweep are, and which one is next. A band is taken when the one before is in work or done.
class Progress {
 public:
  Progress(std::byte* memory, int bands) : next_(reinterpret_cast<std::atomic<int>*>(memory)), bands_(bands) {
    for (int i = 0; i <= bands; ++i) new (next_ + i) std::atomic<int>(0);
  }

  int bands() const { return bands_; }
  int take() { return next_->fetch_add(1, std::memory_order_relaxed); }
  void finish_tile(int band, int tile) {
    tiles(band).store(tile + 1, std::memory_order_seq_cst);
    tiles(band).notify_all();
  }
  // Most waits are for less than a tile's work; a thread whose core others need sleeps.
  void wait_for(int band, int count) const {
    for (int spins = 0; spins < 1000; ++spins)
      if (tiles(band).load(std::memory_order_acquire) >= count) return;
    for (int seen; (seen = tiles(band).load(std::memory_order_acquire)) < count;)
      tiles(band).wait(seen, std::memory_order_acquire);
  }

 private:
  std::atomic<int>& tiles(int band) const { return next_[band + 1]; }

  std::atomic<int>* next_;
  int bands_;
};

template <class T>
struct Job : Extent {
  Job(const Parameters& p, VolumeView<const T> costs_, int max_cost_, ImageView<const std::uint8_t> guide_,
      VolumeView<std::uint16_t> sums_, std::span<std::byte> scratch_)
      : Extent(p, sizeof(T), max_cost_, {costs_.width, costs_.height}, costs_.disparities),
        costs(costs_),
        max_cost(max_cost_),
        p1(p.p1),
        penalties(sgm::penalties(p)),
        sums(sums_),
        scratch(scratch_) {
    if (p.adaptive()) guide = guide_;
  }

  VolumeView<const T> costs;
  int max_cost, p1;
  Penalties penalties;
  ImageView<const std::uint8_t> guide;  // empty: constant P2
  VolumeView<std::uint16_t> sums;
  std::span<std::byte> scratch;
};

}  // namespace stereopsis::sgm
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A thread's work on the bands that it takes. Columns u and rows v are counted along the sweep: the sweep up is the sweep down
// of the image turned by 180°.
template <class D, class T, int kPaths, bool kUp>
class Worker {
  using Lane = hn::TFromD<D>;
  using D16 = hn::Repartition<std::uint16_t, D>;

 public:
  Worker(const Job<T>& job, Progress& progress, int thread)
      : job_(job),
        progress_(progress),
        visited_(round_up(job.disparities, static_cast<int>(hn::Lanes(D())))),
        stride_(static_cast<std::ptrdiff_t>(job.path_bytes / sizeof(Lane))),
        padding_(reinterpret_cast<Lane*>(job.scratch.data())),
        paths_(padding_ + stride_ + guard),
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
  static constexpr int guard = 64 / sizeof(Lane);
  static constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

  // Paths that cross row v at column 0: those at column u lie u strides behind them.
  Lane* vertical() const { return paths_; }
  Lane* diagonal(int v) const { return path(job_.width + job_.height - 1 - v); }
  Lane* antidiagonal(int v) const { return path(2 * static_cast<std::ptrdiff_t>(job_.width) + job_.height - 1 + v); }
  Lane* path(std::ptrdiff_t place) const { return paths_ + place * stride_; }

  // A path begins after an imaginary pixel without costs, so that L_r = C at its first pixel.
  void start(Lane* costs) const {
    costs[-1] = static_cast<Lane>(~0);
    std::fill_n(costs, visited_, Lane{0});
    costs[visited_] = static_cast<Lane>(~0);
  }
  // Paths start in the first row, and at the borders.
  void start_paths(int r) const {
    const int v = first_v_ + r;
    start(horizontal_ + r * stride_);
    if (v == 0)
      for (int u = 0; u < job_.width; ++u) start(vertical() + u * stride_);
    if constexpr (kPaths == 4) {
      for (int u = 0; u < (v == 0 ? job_.width : 1); ++u) start(diagonal(v) + u * stride_);
      for (int u = v == 0 ? 0 : job_.width - 1; u < job_.width; ++u) start(antidiagonal(v) + u * stride_);
    }
  }

  // Few disparities stay in registers where vectors are wide.
  void visit_tile(int tile) const {
    constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
    if constexpr (sizeof(Lane) == 1 && lanes >= 32) {
      if (visited_ == lanes) return visit_tile<1>(tile);
      if (visited_ == 2 * lanes) return visit_tile<2>(tile);
    }
    visit_tile<0>(tile);
  }
  // Each row is two columns behind the row before: what a pixel follows from was visited in an earlier step, so that the
  // processor works on the pixels of a step at a time.
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
    paths[1] = vertical() + u * stride_;
    if constexpr (kPaths == 4) {
      paths[2] = diagonal(v) + u * stride_;
      paths[3] = antidiagonal(v) + u * stride_;
    }
    std::uint32_t p2[kPaths];
    set_penalties(x, y, p2);
    const T* costs = job_.costs.pixel(x, y);
    std::uint16_t* sums = job_.sums.pixel(x, y);
    const auto most = hn::Set(d, static_cast<Lane>(job_.max_cost));
    const auto block_costs = [&](int k)
                                 HWY_ATTR { return hn::Or(hn::Min(load(costs + k), most), hn::Load(d, padding_ + k)); };
    const auto take_sums = [&](int k, Sums<D>& block) HWY_ATTR {
      in_order(d, block);
      for (auto& part : block) {
        put(part, sums + k, job_.disparities - k);
        k += static_cast<int>(hn::Lanes(D16()));
      }
    };
    extend_paths<kBlocks>(d, paths, p1_, p2, 1, kBlocks > 0 ? kBlocks * static_cast<int>(hn::Lanes(d)) : visited_,
                          block_costs, take_sums);
  }

  HWY_INLINE void set_penalties(int x, int y, std::uint32_t (&p2)[kPaths]) const {
    if (job_.guide.empty()) {
      for (std::uint32_t& penalty : p2) penalty = penalties_[0];
      return;
    }
    constexpr int step = kUp ? -1 : 1;
    const int here = job_.guide(x, y);
    const auto from = [&](int dx, int dy) { return penalties_[std::abs(here - job_.guide.clamped(x - dx, y - dy))]; };
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
  // Of which the first `count` are of the pixel. The second sweep adds its own.
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
  const std::ptrdiff_t stride_;
  Lane *const padding_, *const paths_, *const horizontal_;
  const std::uint32_t p1_;  // repeated, as are P2 for each difference
  std::uint32_t penalties_[256];
  // Of the band in work:
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
         VolumeView<std::uint16_t> sums, std::span<std::byte> scratch, Threads& threads) {
  check(p, max_cost);
  const Job<T> job(p, costs, max_cost, guide, sums, scratch);
  if constexpr (sizeof(T) == 1)
    HWY_DYNAMIC_DISPATCH(sum_u8)(job, threads);
  else
    HWY_DYNAMIC_DISPATCH(sum_u16)(job, threads);
}

#define STEREOPSIS_INSTANCE(T)                                                                  \
  template std::size_t scratch_bytes<T>(const Parameters&, int, Size, int, int);                \
  template void cpu(const Parameters&, VolumeView<const T>, int, ImageView<const std::uint8_t>, \
                    VolumeView<std::uint16_t>, std::span<std::byte>, Threads&);
STEREOPSIS_INSTANCE(std::uint8_t)
STEREOPSIS_INSTANCE(std::uint16_t)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::sgm
#endif
