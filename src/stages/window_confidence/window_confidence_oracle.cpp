#include <cmath>

#include "stages/window_confidence/window_confidence.hpp"

namespace stereopsis::window_confidence {
namespace {

class Pixel {
 public:
  Pixel(const window_sad::Window& window, const window_sad::Source<ImageView>& source, int x, int y)
      : window_(window), source_(source), x_(x), y_(y) {}

  float pkr(int d) const {
    int best = d - 2;
    for (const int other : {d - 1, d + 1, d + 2})
      if (sum(other) < sum(best)) best = other;
    const int gain = std::max(0, sum(best) - sum(d));
    return quotient(gain, gain + window_.area() * std::abs(best - d));
  }
  float fd() const {
    int total = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      const auto byte = [&](int x, int y) { return static_cast<int>(source_.left.clamped(x, y) >> shift & 255); };
      int sum = 0;
      for_each([&](int x, int y) { sum += byte(x, y); });
      const int mean = (2 * sum + window_.area()) / (2 * window_.area());
      for_each([&](int x, int y) { total += std::abs(byte(x, y) - mean); });
    }
    return quotient(total, total + 8 * window_.area());
  }
  float msm(int d) const { return quotient(8 * window_.area(), 8 * window_.area() + sum(d)); }

 private:
  static float quotient(int a, int b) { return static_cast<float>(a) / static_cast<float>(b); }

  template <class F>
  void for_each(F&& f) const {
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy)
      for (int dx = -window_.radius_x(); dx <= window_.radius_x(); ++dx) f(x_ + dx, y_ + dy);
  }
  int sum(int d) const {
    int sum = 0;
    for_each([&](int x, int y) {
      sum += cost::evaluate(source_, std::clamp(x, 0, source_.left.width - 1),
                            std::clamp(y, 0, source_.left.height - 1), d);
    });
    return sum;
  }

  const window_sad::Window& window_;
  const window_sad::Source<ImageView>& source_;
  const int x_, y_;
};

float measured(Measure measure, const Pixel& pixel, float disparity) {
  if (std::isnan(disparity)) return 0;
  const int d = static_cast<int>(std::floor(disparity + 0.5f));
  switch (measure) {
    case Measure::pkr: return pixel.pkr(d);
    case Measure::fd: return pixel.fd();
    case Measure::msm: return pixel.msm(d);
    default: return pixel.msm(d) * pixel.fd();
  }
}

}  // namespace

void oracle(const Parameters& p, const window_sad::Window& window, const window_sad::Source<ImageView>& source,
            ImageView<const float> disparity, ImageView<float> confidence) {
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      confidence(x, y) = measured(p.measure, Pixel(window, source, x, y), disparity(x, y));
}

}  // namespace stereopsis::window_confidence
