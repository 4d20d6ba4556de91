// Computes window means by running sums. For each column and disparity, a thread keeps the sum over the rows of the
// window, and moves the sum over the window along a row. All disparities of a pixel are contiguous in memory. The file
// is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_WINDOW_MEAN_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_WINDOW_MEAN_CPU_INL
#undef STEREOPSIS_WINDOW_MEAN_CPU_INL
#else
#define STEREOPSIS_WINDOW_MEAN_CPU_INL
#endif

#include <algorithm>
#include <type_traits>

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/quotient-inl.hpp"
#include "stages/window_mean/window_mean.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::window_mean::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

struct Nothing {};

// The function beside(x, y) returns a pointer to 32-bit values that are added to the means of a pixel; its type may be
// Nothing instead.
template <class Beside>
class Band {
 public:
  Band(Window window, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages, std::byte* memory,
       Beside beside)
      : window_(window),
        costs_(costs),
        averages_(averages),
        s_(costs.width, costs.disparities, memory),
        beside_(beside) {}

  void run(int first, int last) const {
    const int radius = window_.radius_y;
    std::fill_n(s_.columns, static_cast<std::size_t>(costs_.width) * s_.padded, 0);
    for (int y = first - radius; y < first + radius; ++y) move_columns(y, y, false);
    for (int y = first; y < last; ++y) {
      move_columns(y + radius, y - radius - 1, y > first);
      average_row(y);
    }
  }

 private:
  using D = hn::ScalableTag<std::int32_t>;

  static int lanes() { return static_cast<int>(hn::Lanes(D())); }
  static HWY_INLINE hn::Vec<D> load(const std::uint8_t* costs) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<std::uint8_t, D>(), costs));
  }
  std::int32_t* column(int x) const {
    return s_.columns + static_cast<std::size_t>(std::clamp(x, 0, costs_.width - 1)) * s_.padded;
  }

  void move_columns(int entering, int leaving, bool leaves) const {
    const D d;
    const auto row = [&](int y) { return std::clamp(y, 0, costs_.height - 1); };
    for (int x = 0; x < costs_.width; ++x) {
      std::int32_t* sums = column(x);
      const std::uint8_t *in = costs_.pixel(x, row(entering)), *out = costs_.pixel(x, row(leaving));
      for (int k = 0; k < costs_.disparities; k += lanes()) {
        auto sum = hn::Add(hn::Load(d, sums + k), load(in + k));
        if (leaves) sum = hn::Sub(sum, load(out + k));
        hn::Store(sum, d, sums + k);
      }
    }
  }

  void average_row(int y) const {
    const D d;
    const hn::Rebind<std::uint16_t, D> d16;
    const int radius = window_.radius_x, area = window_.area();
    std::fill_n(s_.window, s_.padded, 0);
    for (int dx = -radius; dx < radius; ++dx)
      for (int k = 0; k < costs_.disparities; k += lanes())
        hn::Store(hn::Add(hn::Load(d, s_.window + k), hn::Load(d, column(dx) + k)), d, s_.window + k);
    for (int x = 0; x < costs_.width; ++x) {
      const std::int32_t *entering = column(x + radius), *leaving = column(x - radius);
      for (int k = 0; k < costs_.disparities; k += lanes()) {
        const auto sum = hn::Add(hn::Load(d, s_.window + k), hn::Load(d, entering + k));
        const auto dividend = hn::Add(hn::Mul(sum, hn::Set(d, 128)), hn::Set(d, area / 2));
        auto mean = quotient(d, dividend, area);
        if constexpr (!std::is_same_v<Beside, Nothing>) mean = hn::Add(mean, hn::Load(d, beside_(x, y) + k));
        hn::Store(hn::DemoteTo(d16, mean), d16, s_.averages + k);
        hn::Store(hn::Sub(sum, hn::Load(d, leaving + k)), d, s_.window + k);
      }
      std::copy_n(s_.averages, costs_.disparities, averages_.pixel(x, y));
    }
  }

  const Window window_;
  const VolumeView<const std::uint8_t> costs_;
  const VolumeView<std::uint16_t> averages_;
  const Scratch s_;
  const Beside beside_;
};

}  // namespace stereopsis::window_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
