// Selection from the sums of a band: marks candidates, finds the winners of a step, and writes the rows of a tile. The
// file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_SGM_WTA_CPU_SELECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SGM_WTA_CPU_SELECT_INL
#undef STEREOPSIS_SGM_WTA_CPU_SELECT_INL
#else
#define STEREOPSIS_SGM_WTA_CPU_SELECT_INL
#endif

#include <algorithm>

#include "device/cpu/highway-inl.hpp"
#include "fused/sgm_wta/sgm_wta_sweep.hpp"
#include "stages/wta/wta_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace wta_cpu = stereopsis::wta::HWY_NAMESPACE;

static_assert(wta_cpu::batch == band_rows && wta_cpu::run == tile_columns);

class Selection {
 public:
  Selection(const Extent& extent, const wta::Input& in, const wta::Parameters& parameters, const wta::Output& out)
      : in_(in),
        parameters_(parameters),
        out_(out),
        width_(extent.width),
        disparities_(extent.disparities),
        whole_(columns_of_all_candidates()) {}

  bool wants_right() const { return !out_.right.empty(); }
  // Returns whether the left pixel is selected, and therefore takes part in the selection of the right view.
  bool usable(int x, int y) const { return in_.mask_left.empty() || in_.mask_left(x, y) != 0; }

  // Removes the sums of a pixel that do not belong to candidates.
  HWY_INLINE void leave_candidates(int x, int y, std::uint16_t* total) const {
    if ((x < whole_.first || x > whole_.last) && usable(x, y))
      wta_cpu::leave_candidates(parameters_, in_, x, y, width_, disparities_, total);
  }

  // Finds the winners of the pixels in a step, which are in the given column of their tiles.
  HWY_INLINE void find_winners(const wta_cpu::Costs& totals, int column) {
    const bool want_second = parameters_.uniqueness > 0 || want_confidence();
    wta_cpu::find_winners(totals, want_second, column, winners_);
  }

  // Writes the results of row r of the band, for the columns of its tile from `tile_x` on.
  void deliver(int r, int y, int tile_x) const {
    const int first = std::max(0, tile_x), count = std::min(width_, tile_x + tile_columns) - first;
    if (count <= 0) return;
    wta_cpu::SelectedRun selected;
    wta_cpu::select(parameters_, winners_[r], in_.min_disparity, want_confidence(), selected);
    const auto put = [&]<class T>(const T* from, T* to) { std::copy_n(from + (first - tile_x), count, to + first); };
    put(selected.disparity, out_.disparity.row(y));
    put(selected.validity, out_.validity.row(y));
    if (want_confidence()) put(selected.confidence, out_.confidence.row(y));
    if (!in_.mask_left.empty()) leave_masked(y, first, first + count);
  }

  void deliver_right(const wta_cpu::RightRow& right, int y) const {
    const auto& mask = in_.mask_right;
    wta_cpu::finish(right, width_, disparities_, in_.min_disparity, mask.empty() ? nullptr : mask.row(y),
                    out_.right.row(y));
  }

 private:
  struct Columns {
    int first, last;
  };

  bool want_confidence() const { return !out_.confidence.empty(); }

  // Returns the columns in which every disparity is a candidate.
  Columns columns_of_all_candidates() const {
    const auto all = [&](int x) {
      const auto range = wta::candidates(parameters_, x, width_, in_.min_disparity, disparities_);
      return in_.mask_right.empty() && range.first <= 0 && range.last >= disparities_ - 1;
    };
    Columns columns{0, width_ - 1};
    while (columns.first < width_ && !all(columns.first)) ++columns.first;
    while (columns.last >= columns.first && !all(columns.last)) --columns.last;
    return columns;
  }

  void leave_masked(int y, int first_x, int end_x) const {
    for (int x = first_x; x < end_x; ++x) {
      if (usable(x, y)) continue;
      out_.disparity(x, y) = invalid_disparity;
      out_.validity(x, y) = validity::masked;
      if (want_confidence()) out_.confidence(x, y) = 0.0f;
    }
  }

  const wta::Input& in_;
  const wta::Parameters& parameters_;
  const wta::Output& out_;
  const int width_, disparities_;
  const Columns whole_;
  wta_cpu::Winners winners_[band_rows];  // winners of each row of a tile
};

}  // namespace stereopsis::sgm_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
