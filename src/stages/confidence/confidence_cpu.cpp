#include "device/cpu/threads.hpp"
#include "stages/confidence/confidence.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/confidence/confidence_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "stages/window_sad/window_sad_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::confidence::HWY_NAMESPACE {

class Rows {
 public:
  Rows(const Parameters& p, const window_sad::Window& window, const window_sad::Source<ImageView>& source,
       ImageView<const float> disparity, ImageView<float> confidence)
      : p_(p),
        window_(window),
        left_(source.left),
        disparity_(disparity),
        confidence_(confidence),
        sum_(window, source.left, source.right) {}

  void run(int first, int last) const {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < disparity_.width; ++x) {
        const float disparity = disparity_(x, y);
        confidence_(x, y) =
            std::isnan(disparity) ? 0.0f : measured(x, y, static_cast<int>(std::floor(disparity + 0.5f)));
      }
  }

 private:
  float measured(int x, int y, int d) const {
    if (p_.measure == Measure::pkr) return pkr(x, y, d);
    const float density = p_.measure == Measure::msm ? 1.0f : fd(x, y);
    const int half = 8 * window_.area();
    return p_.measure == Measure::fd ? density : quotient(half, half + sum_.at(x, y, -d)) * density;
  }

  float pkr(int x, int y, int d) const {
    int best = d - 2, lowest = sum_.at(x, y, -best);
    for (const int other : {d - 1, d + 1, d + 2}) {
      const int sum = sum_.at(x, y, -other);
      if (sum >= lowest) continue;
      best = other;
      lowest = sum;
    }
    const int gain = std::max(0, lowest - sum_.at(x, y, -d));
    return quotient(gain, gain + window_.area() * std::abs(best - d));
  }

  float fd(int x, int y) const {
    int sums[4] = {}, total = 0;
    for_each_byte(x, y, [&](int channel, int byte) { sums[channel] += byte; });
    for (int& sum : sums) sum = (2 * sum + window_.area()) / (2 * window_.area());
    for_each_byte(x, y, [&](int channel, int byte) { total += std::abs(byte - sums[channel]); });
    return quotient(total, total + 8 * window_.area());
  }

  // f(channel, byte) over the window.
  template <class F>
  HWY_INLINE void for_each_byte(int x, int y, F&& f) const {
    const int first = x - window_.radius_x(), last = x + window_.radius_x();
    const bool inside = first >= 0 && last < left_.width;
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy) {
      const std::uint32_t* row = left_.row(std::clamp(y + dy, 0, left_.height - 1));
      for (int i = first; i <= last; ++i) {
        const std::uint32_t word = row[inside ? i : std::clamp(i, 0, left_.width - 1)];
        for (int c = 0; c < 4; ++c) f(c, static_cast<int>(word >> 8 * c & 255));
      }
    }
  }

  static float quotient(int a, int b) { return static_cast<float>(a) / static_cast<float>(b); }

  const Parameters& p_;
  const window_sad::Window& window_;
  const ImageView<const std::uint32_t> left_;
  const ImageView<const float> disparity_;
  const ImageView<float> confidence_;
  const window_sad::HWY_NAMESPACE::WindowSum sum_;
};

void measure_rows(const Parameters& p, const window_sad::Window& window, const window_sad::Source<ImageView>& source,
                  ImageView<const float> disparity, ImageView<float> confidence, int first, int last) {
  Rows(p, window, source, disparity, confidence).run(first, last);
}

}  // namespace stereopsis::confidence::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::confidence {

HWY_EXPORT(measure_rows);

void cpu(const Parameters& p, const window_sad::Window& window, const window_sad::Source<ImageView>& source,
         ImageView<const float> disparity, ImageView<float> confidence, Threads& threads) {
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(measure_rows)(p, window, source, disparity, confidence, first, last);
  });
}

}  // namespace stereopsis::confidence
#endif
