// The sum over the window of one pixel at one disparity, for engines in which disparities differ from pixel to pixel.
// The file is included once for each SIMD target, hence the unusual include guard.
#if defined(STEREOPSIS_WINDOW_SUM_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_WINDOW_SUM_CPU_INL
#undef STEREOPSIS_WINDOW_SUM_CPU_INL
#else
#define STEREOPSIS_WINDOW_SUM_CPU_INL
#endif

#include <array>

#include "device/cpu/highway-inl.hpp"
#include "stages/shared/windows.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::window_sad::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Window sums of two views at a column shift, which compare (x, y) in the reference view with (x + shift, y) in the
// other view.
class WindowSum {
 public:
  WindowSum(const Window& window, ImageView<const std::uint32_t> reference, ImageView<const std::uint32_t> other)
      : window_(window),
        reference_(reference),
        other_(other),
        rest_(hn::FirstN(D32(), static_cast<std::size_t>(window.width) % hn::Lanes(D32()))) {}

  int at(int x, int y, int shift) const {
    if (!is_inside(x, shift, shift)) return sum_at_border(x, y, shift);
    std::array<int, 1> sum;
    sums_inside(x, y, shift, sum);
    return sum[0];
  }

  // Computes the sums for shift, shift + 1, …, and reads pixels that they share once.
  template <std::size_t kShifts>
  void at(int x, int y, int shift, std::array<int, kShifts>& sums) const {
    if (is_inside(x, shift, shift + static_cast<int>(kShifts) - 1)) return sums_inside(x, y, shift, sums);
    for (int& sum : sums) sum = at(x, y, shift++);
  }

 private:
  using D32 = hn::CappedTag<std::uint32_t, 8>;
  using D8 = hn::Repartition<std::uint8_t, D32>;
  using D64 = hn::Repartition<std::uint64_t, D32>;

  bool is_inside(int x, int first_shift, int last_shift) const {
    const int first = x - window_.radius_x(), last = x + window_.radius_x();
    return first >= 0 && last < reference_.width && first + first_shift >= 0 && last + last_shift < other_.width;
  }

  template <std::size_t kShifts>
  void sums_inside(int x, int y, int shift, std::array<int, kShifts>& results) const {
    const D32 d32;
    const D64 d64;
    const int first = x - window_.radius_x(), lanes = static_cast<int>(hn::Lanes(d32));
    hn::Vec<D64> sums[kShifts];
    for (auto& sum : sums) sum = hn::Zero(d64);
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy) {
      const int row = std::clamp(y + dy, 0, reference_.height - 1);
      const std::uint32_t *a = reference_.row(row) + first, *b = other_.row(row) + first + shift;
      int i = 0;
      for (; i + lanes <= window_.width; i += lanes) {
        const auto here = hn::LoadU(d32, a + i);
        for (std::size_t k = 0; k < kShifts; ++k)
          sums[k] = hn::Add(sums[k], sums_of_8(byte_differences(here, hn::LoadU(d32, b + i + k))));
      }
      if (i == window_.width) continue;
      // The vector may extend beyond the window and, at the end, into the padding of the image.
      const auto here = hn::LoadU(d32, a + i);
      for (std::size_t k = 0; k < kShifts; ++k)
        sums[k] =
            hn::Add(sums[k], sums_of_8(hn::IfThenElseZero(rest_, byte_differences(here, hn::LoadU(d32, b + i + k)))));
    }
    for (std::size_t k = 0; k < kShifts; ++k) results[k] = static_cast<int>(hn::GetLane(hn::SumOfLanes(d64, sums[k])));
  }

  static hn::Vec<D32> byte_differences(hn::Vec<D32> a, hn::Vec<D32> b) {
    const D8 d8;
    const auto bytes_a = hn::BitCast(d8, a), bytes_b = hn::BitCast(d8, b);
    return hn::BitCast(D32(), hn::Or(hn::SaturatedSub(bytes_a, bytes_b), hn::SaturatedSub(bytes_b, bytes_a)));
  }
  static hn::Vec<D64> sums_of_8(hn::Vec<D32> words) { return hn::SumsOf8(hn::BitCast(D8(), words)); }

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
