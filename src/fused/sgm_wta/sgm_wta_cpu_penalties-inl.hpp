// P2 of all paths that reach the pixels of a row. The file is included once for each SIMD target, hence the unusual
// include guard.
#if defined(STEREOPSIS_SGM_WTA_CPU_PENALTIES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_SGM_WTA_CPU_PENALTIES_INL
#undef STEREOPSIS_SGM_WTA_CPU_PENALTIES_INL
#else
#define STEREOPSIS_SGM_WTA_CPU_PENALTIES_INL
#endif

#include <algorithm>
#include <cstdlib>

#include "device/cpu/highway-inl.hpp"
#include "fused/sgm_wta/sgm_wta_sweep.hpp"
#include "stages/cost/cost_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::sgm_wta::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace cost_cpu = stereopsis::cost::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

// A table of 256 bytes, looked up 16 entries at a time. The constant entries at the end need no look-up, because
// earlier entries are stored as their difference from that constant.
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
      // The indices of other entries get the highest bit, for which the look-up returns 0.
      const V here = hn::SaturatedAdd(hn::Xor(index, hn::Set(d, static_cast<std::uint8_t>(first))), hn::Set(d, 0x70));
      // Some processors require that the bits between the index and the highest bit are clear.
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

template <class Lane>
class AdaptivePenalties {
 public:
  AdaptivePenalties(const sgm::Penalties& penalties, ImageView<const std::uint8_t> guide, const sgm::Edges& edges)
      : penalties_(penalties), table_(penalties), guide_(guide), edges_(edges) {}

  // Computes P2 of row y for each path, by column of the image. The previous row lies above, or below in the upward
  // sweep. Values at the start of a path have no effect. A path that comes from the boundary state uses the guide's row
  // there.
  template <int kPaths>
  void set(int y, bool up, Lane* p2) const {
    const int step = up ? -1 : 1, width = guide_.width;
    const std::uint8_t* here = guide_.row(y);
    const bool comes_in = !(up ? edges_.below : edges_.above).empty();
    const std::uint8_t* before = guide_.row(comes_in ? y - step : std::clamp(y - step, 0, guide_.height - 1));
    set(here, here, -step, p2);
    set(here, before, 0, p2 + width);
    if constexpr (kPaths == 4) {
      set(here, before, -step, p2 + 2 * width);
      set(here, before, step, p2 + 3 * width);
    }
  }

 private:
  // Computes P2 of one path between the row `here` and the row `from`, whose pixels are `dx` columns away.
  void set(const std::uint8_t* here, const std::uint8_t* from, int dx, Lane* p2) const {
    const int width = guide_.width;
    const auto scalar = [&](int x) {
      const int before = from[std::clamp(x + dx, 0, width - 1)];
      p2[x] = static_cast<Lane>(penalties_[std::abs(here[x] - before)]);
    };
    if constexpr (sizeof(Lane) == 1) {
      const hn::ScalableTag<std::uint8_t> d;
      const auto vector = [&](int x) HWY_ATTR {
        const auto difference = cost_cpu::absolute_difference(d, hn::LoadU(d, here + x), hn::LoadU(d, from + x + dx));
        hn::StoreU(table_(d, difference), d, p2 + x);
      };
      for_each_block(d, 1, width - 1, vector, scalar);
    } else {
      for (int x = 0; x < width; ++x) scalar(x);
    }
  }

  const sgm::Penalties& penalties_;
  ByteTable table_;
  ImageView<const std::uint8_t> guide_;
  const sgm::Edges& edges_;
};

}  // namespace stereopsis::sgm_wta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
