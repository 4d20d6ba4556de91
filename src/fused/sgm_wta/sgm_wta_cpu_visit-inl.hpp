// Visits a pixel: extends the paths through the pixel. Stores their sums, or adds them to the sums of the other sweep.
// The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_SGM_WTA_CPU_VISIT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SGM_WTA_CPU_VISIT_INL
#undef STEREOPSIS_SGM_WTA_CPU_VISIT_INL
#else
#define STEREOPSIS_SGM_WTA_CPU_VISIT_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

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

// A row of the current band.
template <class Lane, class Kind, int kPaths>
struct Row {
  using Word = typename Kind::Word;

  // Prepares the tile that begins at column `tile_x` of the image.
  void begin_tile(int tile_x, int width) {
    x = tile_x;
    const int first = std::max(0, x), count = std::min(width, x + tile_columns) - first;
    if (count <= 0) return;
    const int column = first - x, bytes = sizeof(Word);
    repeat(left + first * bytes, count * bytes, left_bytes + column * bytes);
    for (int i = 0; i < kPaths; ++i) repeat(p2 + i * width + first, count, penalties[i] + column);
  }

  int y;
  const std::uint8_t* left;  // bytes of the left words
  cost_cpu::Candidates<Kind> candidates;
  const Lane* p2;
  std::uint16_t* sums;
  std::uint16_t* total;
  wta_cpu::RightRow right;
  Lane* paths[kPaths] = {};  // costs, at column 0, of the paths that cross the row
  // The first image column of the current tile, and its left pixels and P2. Each value is repeated.
  int x = 0;
  std::uint32_t left_bytes[tile_columns * sizeof(Word)] = {};
  std::uint32_t penalties[kPaths][tile_columns] = {};
};

// Returns the number of disparities that a visit covers. Narrow vectors skip part of the padding.
template <class D>
int visited(const Extent& extent) {
  return round_up(extent.disparities, std::max(32, static_cast<int>(hn::Lanes(D()))));
}

template <class D, class Kind, int kPaths>
class Visitor {
  using Lane = hn::TFromD<D>;
  using D16 = hn::Repartition<std::uint16_t, D>;
  using Sums = sgm_cpu::Sums<D>;

 public:
  using Row = sgm_wta::HWY_NAMESPACE::Row<Lane, Kind, kPaths>;

  Visitor(const Job<Kind>& job, const Scratch<Lane>& scratch, const Selection& selection)
      : width_(job.width),
        padded_(job.padded),
        visited_(visited<D>(job)),
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
    const cost_cpu::RepeatedBytes left{row.left_bytes + column * sizeof(typename Kind::Word)};
    const auto block_costs = [&](int k) HWY_ATTR {
      const D d;
      return hn::Or(row.candidates.block(d, left, first + k), hn::Load(d, padding_ + k));
    };
    const auto extend = [&](auto&& take_sums) HWY_ATTR {
      sgm_cpu::extend_paths<kBlocks>(D(), paths, p1_, &row.penalties[0][column], tile_columns, count, block_costs,
                                     take_sums);
    };
    std::uint16_t* stored = row.sums + static_cast<std::ptrdiff_t>(x) * padded;
    if constexpr (kSelects) {
      prefetch(stored, x, up, padded);
      const bool updates = wants_right_ && (!masked_ || selection_.usable(x, row.y));
      const wta_cpu::RightRow right{row.right.cost + first, row.right.index + first};
      extend([&](int k, Sums& sums) HWY_ATTR {
        add_stored(stored + k, sums);
        put_totals(k, sums, row.total, updates, up, right);
      });
      selection_.leave_candidates(x, row.y, row.total);
    } else {
      extend([&](int k, const Sums& sums) HWY_ATTR { store(sums, stored + k); });
    }
  }

 private:
  static constexpr int lanes16() { return static_cast<int>(hn::Lanes(D16())); }

  HWY_INLINE void store(const Sums& sums, std::uint16_t* stored) const {
    for (int i = 0; i < sgm_cpu::sums_per_block<D>; ++i) hn::Stream(sums[i], D16(), stored + i * lanes16());
  }
  HWY_INLINE void add_stored(const std::uint16_t* stored, Sums& sums) const {
    for (int i = 0; i < sgm_cpu::sums_per_block<D>; ++i)
      sums[i] = hn::Add(sums[i], hn::Load(D16(), stored + i * lanes16()));
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

  // The hardware does not predict the order in which the stored sums are read. With prefetching, reading them is 1.2
  // times as fast.
  HWY_INLINE void prefetch(const std::uint16_t* stored, int x, bool up, int padded) const {
    const int ahead = up ? -8 : 8;  // pixels
    if (x + ahead < 0 || x + ahead >= width_) return;
    const std::uint16_t* then = stored + static_cast<std::ptrdiff_t>(ahead) * padded;
    for (int k = 0; k < padded; k += 32) hwy::Prefetch(then + k);
  }

  const int width_, padded_, visited_;
  const std::uint32_t p1_;  // value repeated in each lane
  const Lane* const padding_;
  const std::uint16_t* const sums_padding_;
  const Selection& selection_;
  const bool wants_right_, masked_;
};

}  // namespace stereopsis::sgm_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
