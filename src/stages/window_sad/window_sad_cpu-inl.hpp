// The window sum of one pixel at one disparity, for engines whose disparities differ from pixel to pixel.
// Included once per SIMD target, hence the unusual guard.
#if defined(STEREOPSIS_WINDOW_SAD_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_WINDOW_SAD_CPU_INL
#undef STEREOPSIS_WINDOW_SAD_CPU_INL
#else
#define STEREOPSIS_WINDOW_SAD_CPU_INL
#endif

#include <hwy/highway.h>

#include "stages/window_sad/window_sad.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::window_sad::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Of two views at a shift of columns: reference (x, y) against other (x + shift, y).
class WindowSum {
 public:
  WindowSum(const Window& window, ImageView<const std::uint32_t> reference, ImageView<const std::uint32_t> other)
      : window_(window),
        reference_(reference),
        other_(other),
        rest_(hn::FirstN(D32(), static_cast<std::size_t>(window.width % 4))) {}

  int at(int x, int y, int shift) const {
    const int first = x - window_.radius_x(), last = x + window_.radius_x();
    const bool inside = first >= 0 && last < reference_.width && first + shift >= 0 && last + shift < other_.width;
    return inside ? sum_inside(first, y, shift) : sum_at_border(x, y, shift);
  }

 private:
  using D32 = hn::CappedTag<std::uint32_t, 4>;
  using D8 = hn::Repartition<std::uint8_t, D32>;
  using D64 = hn::Repartition<std::uint64_t, D32>;

  int sum_inside(int first, int y, int shift) const {
    const D8 d8;
    const D32 d32;
    const D64 d64;
    auto sums = hn::Zero(d64);
    const auto add = [&](auto a, auto b) HWY_ATTR {
      const auto bytes_a = hn::BitCast(d8, a), bytes_b = hn::BitCast(d8, b);
      sums = hn::Add(sums, hn::SumsOf8(hn::Or(hn::SaturatedSub(bytes_a, bytes_b), hn::SaturatedSub(bytes_b, bytes_a))));
    };
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy) {
      const int row = std::clamp(y + dy, 0, reference_.height - 1);
      const std::uint32_t *a = reference_.row(row) + first, *b = other_.row(row) + first + shift;
      int i = 0;
      for (; i + 4 <= window_.width; i += 4) add(hn::LoadU(d32, a + i), hn::LoadU(d32, b + i));
      if (i < window_.width)  // the vector may reach beyond the window, into memory that images have to spare
        add(hn::IfThenElseZero(rest_, hn::LoadU(d32, a + i)), hn::IfThenElseZero(rest_, hn::LoadU(d32, b + i)));
    }
    return static_cast<int>(hn::GetLane(hn::SumOfLanes(d64, sums)));
  }

  int sum_at_border(int x, int y, int shift) const {
    int sum = 0;
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy) {
      const int row = std::clamp(y + dy, 0, reference_.height - 1);
      for (int dx = -window_.radius_x(); dx <= window_.radius_x(); ++dx) {
        const int column = std::clamp(x + dx, 0, reference_.width - 1);
        sum += cost::Colours{}(reference_(column, row), other_.clamped(column + shift, row));
      }
    }
    return sum;
  }

  const Window window_;
  const ImageView<const std::uint32_t> reference_, other_;
  const hn::Mask<D32> rest_;
};

}  // namespace stereopsis::window_sad::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
