// Visits a pixel: extends the paths through the pixel. Stores their sums, or adds them to the sums of the other sweep.
// The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_SGM_WTA_CPU_VISIT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SGM_WTA_CPU_VISIT_INL
#undef STEREOPSIS_SGM_WTA_CPU_VISIT_INL
#else
#define STEREOPSIS_SGM_WTA_CPU_VISIT_INL
#endif

#include <algorithm>

#include "device/cpu/highway-inl.hpp"
#include "fused/sgm_wta/sgm_wta_cpu_select-inl.hpp"
#include "fused/sgm_wta/sgm_wta_sweep.hpp"
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

// Returns the size, in bytes, of a candidate in memory.
template <class Kind>
inline constexpr std::size_t bytes_of_candidate = cost_cpu::Candidates<Kind>::bytes_per_entry;
template <>
inline constexpr std::size_t bytes_of_candidate<cost::Given> = 0;

// The matching costs of the pixels of a row, from the words of both views.
template <class Kind>
class CostRow {
  using Word = typename Kind::Word;

 public:
  CostRow(const Job<Kind>& job, int y, std::byte* memory)
      : width_(job.width),
        left_(reinterpret_cast<const std::uint8_t*>(job.source.left.row(y))),
        candidates_(job.source.kind, memory, job.candidates()) {
    candidates_.load(job.source.right.row(y), job.width, job.select.min_disparity, job.padded);
  }
  void begin_tile(int first, int count, int column) {
    constexpr int bytes = sizeof(Word);
    repeat(left_ + first * bytes, count * bytes, left_bytes_ + column * bytes);
  }
  // Returns costs from index k on, of pixel x, which is in the given column of its tile.
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, int x, int column, int k) const {
    const cost_cpu::RepeatedBytes left{left_bytes_ + column * sizeof(Word)};
    return candidates_.block(d, left, width_ - 1 - x + k);
  }
  HWY_INLINE void prefetch(int) const {}

 private:
  int width_;
  const std::uint8_t* left_;  // bytes of the left words
  cost_cpu::Candidates<Kind> candidates_;
  std::uint32_t left_bytes_[tile_columns * sizeof(Word)] = {};  // the left pixels of the tile, each byte repeated
};

template <>
class CostRow<cost::Given> : cost_cpu::GivenRow {
 public:
  CostRow(const Job<cost::Given>& job, int y, std::byte*) : GivenRow(job.source.kind, y) {}
  void begin_tile(int, int, int) {}
  template <class D>
  HWY_INLINE hn::VFromD<D> block(D d, int x, int, int k) const {
    return GivenRow::block(d, x, k);
  }
  using GivenRow::prefetch;
};

// A row of the current band.
template <class Lane, class Kind, int kPaths>
struct Row {
  // Prepares the tile that begins at column `tile_x` of the image.
  void begin_tile(int tile_x, int width) {
    x = tile_x;
    const int first = std::max(0, x), count = std::min(width, x + tile_columns) - first;
    if (count <= 0) return;
    const int column = first - x;
    costs.begin_tile(first, count, column);
    for (int i = 0; i < kPaths; ++i) repeat(p2 + i * width + first, count, penalties[i] + column);
  }

  int y;
  CostRow<Kind> costs;
  const Lane* p2;
  std::byte* sums;
  std::uint16_t* total;
  wta_cpu::RightRow right;
  Lane* paths[kPaths] = {};  // costs, at column 0, of the paths that cross the row
  // The first image column of the current tile, and its P2. Each value is repeated.
  int x = 0;
  std::uint32_t penalties[kPaths][tile_columns] = {};
};

// Returns the number of disparities that a visit covers. Narrow vectors skip part of the padding.
template <class D>
int visited(const Extent& extent) {
  return round_up(extent.disparities, std::max(32, static_cast<int>(hn::Lanes(D()))));
}

// Path costs of 8 bits leave out the cost of their last pixel. The stored sums of two such paths may have 8 bits, too.
// The second visit then adds the cost of the pixel once for each path.
template <class D, class Kind, int kPaths>
class Visitor {
  using Lane = hn::TFromD<D>;
  using D16 = hn::Repartition<std::uint16_t, D>;
  using Sums = sgm_cpu::Sums<D>;
  using V = hn::VFromD<D>;
  static constexpr bool are_bytes = sizeof(Lane) == 1;

 public:
  using Row = sgm_wta::HWY_NAMESPACE::Row<Lane, Kind, kPaths>;

  Visitor(const Job<Kind>& job, const Scratch<Lane>& scratch, const Selection& selection)
      : width_(job.width),
        padded_(job.padded),
        visited_(visited<D>(job)),
        most_lowest_(job.most_lowest),
        sum_bytes_(static_cast<std::ptrdiff_t>(job.sum_bytes)),
        p1_(repeated(static_cast<Lane>(job.p1))),
        padding_(scratch.padding()),
        sums_padding_(scratch.sums_padding()),
        selection_(selection),
        wants_right_(selection.wants_right()),
        masked_(!job.select.mask_left.empty()) {}

  // Returns the number of disparities of a visit: those of kBlocks vectors, or any number if kBlocks is 0.
  template <int kBlocks>
  int visited_of() const {
    return kBlocks > 0 ? kBlocks * static_cast<int>(hn::Lanes(D())) : visited_;
  }

  // Visits the pixel of a row in the given column of its tile. `place` is the offset from the paths at column 0 to the
  // paths of the pixel.
  template <bool kSelects, int kBlocks>
  HWY_INLINE void visit(const Row& row, int column, std::ptrdiff_t place, bool up) const {
    const int count = visited_of<kBlocks>(), padded = kBlocks > 0 ? count : padded_;
    const int x = row.x + column, first = width_ - 1 - x;
    Lane* paths[kPaths];
    paths[0] = row.paths[0];
    for (int i = 1; i < kPaths; ++i) paths[i] = row.paths[i] + place;
    const sgm_cpu::PixelCosts pixel{[&](int k) HWY_ATTR { return row.costs.block(D(), x, column, k); },
                                    [&](int k) HWY_ATTR { return hn::Load(D(), padding_ + k); }};
    const auto extend = [&](auto&& take) HWY_ATTR {
      constexpr auto part = are_bytes ? sgm_cpu::Part::without_cost : sgm_cpu::Part::whole;
      constexpr bool saturates = are_bytes && std::is_same_v<Kind, cost::Given>;
      sgm_cpu::extend_paths<kBlocks, part, saturates>(D(), paths, p1_, &row.penalties[0][column], tile_columns, count,
                                                      most_lowest_, pixel, take);
    };
    std::byte* const stored = row.sums + static_cast<std::ptrdiff_t>(x) * padded * sum_bytes_;
    // The hardware does not predict the order in which pixels are visited.
    const int then = x + (up ? -8 : 8);
    const bool is_inside = then >= 0 && then < width_;
    if (is_inside) row.costs.prefetch(then);
    if constexpr (kSelects) {
      // With prefetching, reading the stored sums is 1.2 times as fast.
      if (is_inside) prefetch(stored + (then - x) * static_cast<std::ptrdiff_t>(padded) * sum_bytes_, padded);
      const bool updates = wants_right_ && (!masked_ || selection_.usable(x, row.y));
      const wta_cpu::RightRow right{row.right.cost + first, row.right.index + first};
      extend([&](int k, V cost, const V(&parts)[kPaths]) HWY_ATTR {
        Sums sums;
        add_up(cost, parts, stored, k, sums);
        put_totals(k, sums, row.total, updates, up, right);
      });
      selection_.leave_candidates(x, row.y, row.total);
    } else {
      extend([&](int k, V, const V(&parts)[kPaths]) HWY_ATTR { store(parts, stored, k); });
    }
  }

 private:
  static constexpr int lanes16() { return static_cast<int>(hn::Lanes(D16())); }

  // Stores the sums of the first visit, from index k on.
  HWY_INLINE void store(const V (&parts)[kPaths], std::byte* stored, int k) const {
    if constexpr (are_bytes && kPaths == 2)
      if (sum_bytes_ == 1) return hn::Stream(hn::Add(parts[0], parts[1]), D(), reinterpret_cast<Lane*>(stored) + k);
    Sums sums;
    sgm_cpu::sum_paths(D(), parts, sums);
    for (int i = 0; i < sgm_cpu::sums_per_block<D>; ++i)
      hn::Stream(sums[i], D16(), reinterpret_cast<std::uint16_t*>(stored) + k + i * lanes16());
  }
  // Returns the sums over all paths, from index k on, in the order of sum_paths().
  HWY_INLINE void add_up(V cost, const V (&parts)[kPaths], const std::byte* stored, int k, Sums& sums) const {
    const D d;
    const D16 d16;
    if constexpr (are_bytes) {
      add_parts(parts, stored, k, sums);
      constexpr int bits = kPaths == 2 ? 2 : 3;  // twice kPaths
      const auto add = [&](int i, V costs)
                           HWY_ATTR { sums[i] = hn::Add(sums[i], hn::ShiftLeft<bits>(hn::BitCast(d16, costs))); };
      add(0, hn::InterleaveLower(d, cost, hn::Zero(d)));
      add(1, hn::InterleaveUpper(d, cost, hn::Zero(d)));
    } else {
      sgm_cpu::sum_paths(d, parts, sums);
      add_stored(stored, k, sums);
    }
  }
  HWY_INLINE void add_parts(const V (&parts)[kPaths], const std::byte* stored, int k, Sums& sums) const {
    const D d;
    if constexpr (kPaths == 2)
      if (sum_bytes_ == 1) {
        const V both[2] = {hn::Add(parts[0], parts[1]), hn::Load(d, reinterpret_cast<const Lane*>(stored) + k)};
        return sgm_cpu::sum_paths(d, both, sums);
      }
    sgm_cpu::sum_paths(d, parts, sums);
    add_stored(stored, k, sums);
  }
  HWY_INLINE void add_stored(const std::byte* stored, int k, Sums& sums) const {
    for (int i = 0; i < sgm_cpu::sums_per_block<D>; ++i)
      sums[i] = hn::Add(sums[i], hn::Load(D16(), reinterpret_cast<const std::uint16_t*>(stored) + k + i * lanes16()));
  }
  // Stores the sums over all paths, from index k on, for the selection in the left view and in the right view.
  HWY_INLINE void put_totals(int k, Sums& sums, std::uint16_t* total, bool updates, bool up,
                             const wta_cpu::RightRow& right) const {
    const D16 d16;
    sgm_cpu::in_order(D(), sums);
    for (auto sum : sums) {
      sum = hn::Or(sum, hn::Load(d16, sums_padding_ + k));
      hn::Store(sum, d16, total + k);
      if (updates)
        wta_cpu::update(d16, sum, counted_from(d16, static_cast<std::uint16_t>(k)), up, right.cost + k,
                        right.index + k);
      k += lanes16();
    }
  }

  HWY_INLINE void prefetch(const std::byte* stored, int padded) const {
    for (int at = 0; at < padded * static_cast<int>(sum_bytes_); at += 64) hwy::Prefetch(stored + at);
  }

  const int width_, padded_, visited_, most_lowest_;
  const std::ptrdiff_t sum_bytes_;
  const std::uint32_t p1_;  // value repeated in each lane
  const Lane* const padding_;
  const std::uint16_t* const sums_padding_;
  const Selection& selection_;
  const bool wants_right_, masked_;
};

}  // namespace stereopsis::sgm_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
