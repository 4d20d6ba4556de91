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
using namespace stereopsis::HWY_NAMESPACE;

// A table of 256 bytes, looked up 16 entries at a time. At the end, where all entries are the same, nothing is left to
// look up: those before are kept as what differs from them.
class ByteTable {
 public:
  explicit ByteTable(const sgm::Penalties& entries) : last_(static_cast<std::uint8_t>(entries.back())) {
    for (int i = 0; i < 256; ++i) {
      differences_[i] = static_cast<std::uint8_t>(entries[i]) ^ last_;
      if (differences_[i] != 0) used_ = i + 1;
    }
  }

  template <class D, class V = hn::VFromD<D>>
  HWY_INLINE V operator()(D d, V index) const {
    V found = hn::Set(d, last_);
    for (int first = 0; first < used_; first += 16) {
      // Indices of other entries get the highest bit, which gives 0.
      const V here = hn::SaturatedAdd(hn::Xor(index, hn::Set(d, static_cast<std::uint8_t>(first))), hn::Set(d, 0x70));
      // The bits between are to be clear on some processors.
      const V place = hn::And(here, hn::Set(d, 0x8F));
      found = hn::Xor(found, hn::TableLookupBytesOr0(hn::LoadDup128(d, differences_ + first), place));
    }
    return found;
  }

 private:
  HWY_ALIGN std::uint8_t differences_[256];
  std::uint8_t last_;
  int used_ = 0;
};

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
        wants_right_(!job.out.right.empty()),
        masked_(!job.select.mask_left.empty()),
        width_(job.width),
        padded_(job.padded),
        whole_(columns_of_all_candidates()),
        scratch_(scratch),
        penalty_table_(job.penalties),
        p1_(repeated(static_cast<Lane>(job.p1))) {
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
    if (band.selects && wants_right_)
      for (int r = 0; r < rows_; ++r) end_row(r);
  }

 private:
  struct Columns {
    int first, last;
  };
  struct Row {
    int y;
    const std::uint8_t* left;  // the bytes of the words
    Candidates candidates;
    const Lane* p2;
    std::uint16_t* sums;
    std::uint16_t* total;
    wta_cpu::RightRow right;
    Lane* paths[kPaths] = {};  // those that cross its column 0
    // In the tile in work: the image's column of the tile's column 0; the left pixels and P2, repeated.
    int x = 0;
    std::uint32_t left_bytes[tile_columns * sizeof(Word)] = {};
    std::uint32_t penalties[kPaths][tile_columns] = {};
  };

  void begin_row(int r, int v, bool selects) {
    const int y = up_ ? job_.height - 1 - v : v;
    Candidates candidates(job_.source.kind, scratch_.candidates(r), job_.candidates());
    candidates.load(job_.source.right.row(y), job_.width, job_.select.min_disparity, job_.padded);
    Row& row = row_[r].emplace(Row{y,
                                   reinterpret_cast<const std::uint8_t*>(job_.source.left.row(y)),
                                   candidates,
                                   scratch_.penalties(r),
                                   job_.sums + static_cast<std::ptrdiff_t>(y - first_y_) * job_.width * job_.padded,
                                   scratch_.total(r),
                                   {scratch_.right_cost(r), scratch_.right_index(r)}});
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
    if (selects && wants_right_) wta_cpu::clear(row.right, job_.width + job_.padded);
  }

  // P2 of all paths that come to the pixels of a row; it does not matter where one starts.
  void set_penalties(int r, int v, int y) {
    const int step = up_ ? -1 : 1;
    const std::uint8_t* here = job_.guide.row(y);
    const std::uint8_t* before = job_.guide.row(v > 0 ? y - step : y);
    Lane* p2 = scratch_.penalties(r);
    set_penalties(here, here, -step, p2);
    set_penalties(here, before, 0, p2 + job_.width);
    if constexpr (kPaths == 4) {
      set_penalties(here, before, -step, p2 + 2 * job_.width);
      set_penalties(here, before, step, p2 + 3 * job_.width);
    }
  }

  // Of the path that comes to a row's pixels from those of `from`, `dx` columns away.
  void set_penalties(const std::uint8_t* here, const std::uint8_t* from, int dx, Lane* p2) {
    const auto scalar = [&](int x) {
      const int before = from[std::clamp(x + dx, 0, job_.width - 1)];
      p2[x] = static_cast<Lane>(job_.penalties[std::abs(here[x] - before)]);
    };
    if constexpr (sizeof(Lane) == 1) {
      const hn::ScalableTag<std::uint8_t> d;
      const auto vector = [&](int x) HWY_ATTR {
        const auto difference = cost_cpu::absolute_difference(d, hn::LoadU(d, here + x), hn::LoadU(d, from + x + dx));
        hn::StoreU(penalty_table_(d, difference), d, p2 + x);
      };
      for_each_block(d, 1, job_.width - 1, vector, scalar);
    } else {
      for (int x = 0; x < job_.width; ++x) scalar(x);
    }
  }

  // Each row is two columns behind the row before: what a pixel follows from was visited in an earlier step, so that
  // the processor works on the pixels of a step at a time.
  void begin_tile(Row& row, int start) {
    row.x = up_ ? job_.width - tile_columns - start : start;
    const int first = std::max(0, row.x), count = std::min(job_.width, row.x + tile_columns) - first;
    if (count <= 0) return;
    const int column = first - row.x, bytes = sizeof(Word);
    repeat(row.left + first * bytes, count * bytes, row.left_bytes + column * bytes);
    for (int i = 0; i < kPaths; ++i) repeat(row.p2 + i * job_.width + first, count, row.penalties[i] + column);
  }

  template <bool kSelects, int kBlocks>
  void visit_tile(int tile) {
    const int rows = rows_, width = job_.width, start = tile * tile_columns;
    const std::ptrdiff_t stride = sweep_->stride();
    for (int r = 0; r < rows; ++r) begin_tile(*row_[r], start - row_lag * r);
    for (int step = 0; step < tile_columns; ++step) {
      const int column = up_ ? tile_columns - 1 - step : step;
      for (int r = 0; r < rows; ++r) {
        const int u = start + step - row_lag * r;
        if (u >= 0 && u < width) visit<kSelects, kBlocks>(r, column, u * stride);
      }
      if constexpr (kSelects) find_winners<kBlocks>(column);
    }
    if constexpr (kSelects)
      for (int r = 0; r < rows; ++r) select(r);
  }
  template <int kBlocks>
  void visit_tile(bool selects, int tile) {
    if (selects)
      visit_tile<true, kBlocks>(tile);
    else
      visit_tile<false, kBlocks>(tile);
  }
  template <int kBlocks>
  int padded_of() const {
    return kBlocks > 0 ? kBlocks * static_cast<int>(hn::Lanes(D())) : padded_;
  }
  // Few disparities in 8-bit lanes, the common case, stay in registers where vectors are wide.
  void visit_tile(bool selects, int tile) {
    constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
    constexpr bool widest = lanes == hn::MaxLanes(hn::CappedTag<Lane, 64>());
    if constexpr (sizeof(Lane) == 1 && lanes >= 32)
      if (job_.padded == lanes) return visit_tile<1>(selects, tile);
    if constexpr (sizeof(Lane) == 1 && lanes >= 32 && widest)  // others are used for odd numbers of vectors
      if (job_.padded == 2 * lanes) return visit_tile<2>(selects, tile);
    visit_tile<0>(selects, tile);
  }

  // The pixel of row r in this column of its tile; `place` leads from the paths at column 0 to those of the pixel.
  template <bool kSelects, int kBlocks>
  HWY_INLINE void visit(int r, int column, std::ptrdiff_t place) {
    const Row& row = *row_[r];
    const int padded = padded_of<kBlocks>();
    const int x = row.x + column, first = width_ - 1 - x;
    Lane* paths[kPaths];
    paths[0] = row.paths[0];
    for (int i = 1; i < kPaths; ++i) paths[i] = row.paths[i] + place;
    const cost_cpu::RepeatedBytes left{row.left_bytes + column * sizeof(Word)};
    const Candidates& candidates = row.candidates;
    const Lane* padding = scratch_.padding();
    const auto block_costs = [&](int k) HWY_ATTR {
      const D d;
      return hn::Or(candidates.block(d, left, first + k), hn::Load(d, padding + k));
    };
    const auto extend = [&](auto&& take_sums) HWY_ATTR {
      sgm_cpu::extend_paths<kBlocks>(D(), paths, p1_, &row.penalties[0][column], tile_columns, padded, block_costs,
                                     take_sums);
    };
    std::uint16_t* stored = row.sums + static_cast<std::ptrdiff_t>(x) * padded;
    if constexpr (kSelects) {
      prefetch(stored, x, padded);
      std::uint16_t* total = row.total;
      const std::uint16_t* no_candidates = scratch_.sums_padding();
      const bool updates = wants_right_ && (!masked_ || usable(job_.select.mask_left, x, row.y)), later_wins = up_;
      const wta_cpu::RightRow right{row.right.cost + first, row.right.index + first};
      extend([&](int k, sgm_cpu::Sums<D>& sums) HWY_ATTR {
        const hn::Repartition<std::uint16_t, D> d16;
        const int lanes = static_cast<int>(hn::Lanes(d16));
        for (int i = 0; i < sgm_cpu::sums_per_block<D>; ++i)
          sums[i] = hn::Add(sums[i], hn::Load(d16, stored + k + i * lanes));
        sgm_cpu::in_order(D(), sums);
        for (auto sum : sums) {
          sum = hn::Or(sum, hn::Load(d16, no_candidates + k));
          hn::Store(sum, d16, total + k);
          if (updates)
            wta_cpu::update(d16, sum, hn::Iota(d16, static_cast<std::uint16_t>(k)), later_wins, right.cost + k,
                            right.index + k);
          k += lanes;
        }
      });
      if (x < whole_.first || x > whole_.last) leave_candidates(x, row.y, total);
    } else {
      extend([&](int k, const sgm_cpu::Sums<D>& sums) HWY_ATTR {
        const hn::Repartition<std::uint16_t, D> d16;
        for (const auto& sum : sums) {
          hn::Stream(sum, d16, stored + k);
          k += static_cast<int>(hn::Lanes(d16));
        }
      });
    }
  }

  // The stored sums come from memory, in an order that the hardware does not foresee: 1.2 times as fast as without.
  HWY_INLINE void prefetch(const std::uint16_t* stored, int x, int padded) const {
    const int ahead = up_ ? -8 : 8;  // pixels
    if (x + ahead < 0 || x + ahead >= width_) return;
    const std::uint16_t* then = stored + static_cast<std::ptrdiff_t>(ahead) * padded;
    for (int k = 0; k < padded; k += 32) hwy::Prefetch(then + k);
  }

  // Where every disparity is a candidate.
  Columns columns_of_all_candidates() const {
    const auto all = [&](int x) {
      const auto range =
          wta::candidates(job_.select_parameters, x, job_.width, job_.select.min_disparity, job_.disparities);
      return job_.select.mask_right.empty() && range.first <= 0 && range.last >= job_.disparities - 1;
    };
    Columns columns{0, job_.width - 1};
    while (columns.first < job_.width && !all(columns.first)) ++columns.first;
    while (columns.last >= columns.first && !all(columns.last)) --columns.last;
    return columns;
  }

  // Of a pixel's sums, leaves those of its candidates.
  HWY_INLINE void leave_candidates(int x, int y, std::uint16_t* total) {
    const auto& in = job_.select;
    const auto range = wta::candidates(job_.select_parameters, x, job_.width, in.min_disparity, job_.disparities);
    if (range.first > 0) std::fill_n(total, std::min(range.first, job_.disparities), wta_cpu::no_cost);
    if (range.last < job_.disparities - 1)
      std::fill(total + std::max(range.last + 1, 0), total + job_.disparities, wta_cpu::no_cost);
    if (!in.mask_right.empty())
      for (int k = 0; k < job_.disparities; ++k)
        if (in.mask_right.clamped(x - in.min_disparity - k, y) == 0) total[k] = wta_cpu::no_cost;
  }

  bool want_confidence() const { return !job_.out.confidence.empty(); }

  // The winners of the pixels of a step.
  template <int kBlocks>
  HWY_INLINE void find_winners(int column) {
    const bool want_second = job_.select_parameters.uniqueness > 0 || want_confidence();
    wta_cpu::find_winners({scratch_.total(0), job_.total_entries(), padded_of<kBlocks>()}, want_second, column,
                          winners_);
  }

  // A row's pixels of a tile.
  void select(int r) {
    const Row& row = *row_[r];
    const int first = std::max(0, row.x), count = std::min(width_, row.x + tile_columns) - first;
    if (count <= 0) return;
    wta_cpu::SelectedRun selected;
    wta_cpu::select(job_.select_parameters, winners_[r], job_.select.min_disparity, want_confidence(), selected);
    const auto deliver = [&]<class T>(const T* from, T* to) { std::copy_n(from + (first - row.x), count, to + first); };
    deliver(selected.disparity, job_.out.disparity.row(row.y));
    deliver(selected.validity, job_.out.validity.row(row.y));
    if (want_confidence()) deliver(selected.confidence, job_.out.confidence.row(row.y));
    if (masked_) leave_masked(row.y, first, first + count);
  }

  void leave_masked(int y, int first_x, int end_x) {
    for (int x = first_x; x < end_x; ++x) {
      if (usable(job_.select.mask_left, x, y)) continue;
      job_.out.disparity(x, y) = invalid_disparity;
      job_.out.validity(x, y) = validity::masked;
      if (want_confidence()) job_.out.confidence(x, y) = 0.0f;
    }
  }

  void end_row(int r) {
    const int y = row_[r]->y;
    const auto& mask = job_.select.mask_right;
    wta_cpu::finish(row_[r]->right, job_.width, job_.disparities, job_.select.min_disparity,
                    mask.empty() ? nullptr : mask.row(y), job_.out.right.row(y));
  }

  static bool usable(const ImageView<const std::uint8_t>& mask, int x, int y) {
    return mask.empty() || mask(x, y) != 0;
  }

  const Job<Kind>& job_;
  const int bands_, first_y_, end_y_;  // of the stripe
  Sweep<Lane>* const sweeps_[2];
  const bool wants_right_, masked_;
  const int width_, padded_;
  const Columns whole_;
  Scratch<Lane> scratch_;
  const ByteTable penalty_table_;
  const std::uint32_t p1_;  // repeated
  // Of the band in work:
  bool up_ = false;
  Sweep<Lane>* sweep_ = nullptr;
  int rows_ = 0;
  std::optional<Row> row_[band_rows];
  wta_cpu::Winners winners_[band_rows];  // of a tile
};

static_assert(wta_cpu::batch == band_rows && wta_cpu::run == tile_columns);

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
