#include <array>
#include <vector>

#include "stages/guided/guided.hpp"

namespace stereopsis::guided {
namespace {

using Vector = std::array<float, 3>;
using Sums = std::array<std::int64_t, 3>;

// Sums over the part of a window that lies in the image, computed from the sums over all pixels above and to the left.
class Box {
 public:
  template <class Value>
  Box(Size size, int radius, Value&& value)
      : size_(size), radius_(radius), sums_((size.width + 1) * (size.height + 1)) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) at(x + 1, y + 1) = value(x, y) + at(x, y + 1) + at(x + 1, y) - at(x, y);
  }
  std::int64_t operator()(int x, int y) {
    const int left = std::max(x - radius_, 0), right = std::min(x + radius_ + 1, size_.width);
    const int top = std::max(y - radius_, 0), bottom = std::min(y + radius_ + 1, size_.height);
    return at(right, bottom) - at(left, bottom) - at(right, top) + at(left, top);
  }

 private:
  std::int64_t& at(int x, int y) { return sums_[static_cast<std::size_t>(y) * (size_.width + 1) + x]; }

  Size size_;
  int radius_;
  std::vector<std::int64_t> sums_;
};

// The statistics of a window of the guide. With a grey guide, only the first channel is used.
struct Window {
  Sums m;
  Vector delta, mu;
  float k11, k12, k13, k22, k23, k33;
  float share;  // 1/N
};

void invert(float c11, float c12, float c13, float c22, float c23, float c33, Window& w) {
  const float l21 = c12 / c11, l31 = c13 / c11;
  const float d2 = c22 - l21 * c12;
  const float l32 = (c23 - l31 * c12) / d2;
  const float d3 = (c33 - l31 * c13) - l32 * (l32 * d2);
  const float i1 = 1 / c11, i2 = 1 / d2, i3 = 1 / d3;
  const float u31 = l21 * l32 - l31;
  w.k33 = i3;
  w.k23 = -(l32 * i3);
  w.k13 = u31 * i3;
  w.k22 = i2 - l32 * w.k23;
  w.k12 = u31 * w.k23 - l21 * i2;
  w.k11 = (i1 + l21 * (l21 * i2)) + u31 * w.k13;
}

std::vector<Window> windows_of(const Parameters& p, ImageView<const std::uint8_t> guide) {
  const Size size = guide.size();
  const int channels = guide.channels;
  const auto value = [&](int x, int y, int c) -> std::int64_t { return guide(x, y, c) - 128; };
  std::vector<Box> first, second;
  for (int c = 0; c < channels; ++c) first.emplace_back(size, p.radius, [&](int x, int y) { return value(x, y, c); });
  for (int c = 0; c < channels; ++c)
    for (int d = c; d < channels; ++d)
      second.emplace_back(size, p.radius, [&](int x, int y) { return value(x, y, c) * value(x, y, d); });
  Box counts(size, p.radius, [](int, int) { return 1; });

  std::vector<Window> windows;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      Window w{};
      const std::int64_t n = counts(x, y);
      w.share = 1 / static_cast<float>(n);
      Sums sum{}, e{};
      for (int c = 0; c < channels; ++c) {
        sum[c] = first[c](x, y);
        w.m[c] = static_cast<std::int64_t>(std::nearbyint(static_cast<float>(sum[c]) * w.share));
        e[c] = sum[c] - n * w.m[c];
        w.delta[c] = static_cast<float>(e[c]) * w.share;
        w.mu[c] = static_cast<float>(w.m[c]) + w.delta[c];
      }
      const float flat = static_cast<float>(n) * static_cast<float>(p.epsilon);
      const auto covariance = [&](int c, int d, int index) {
        const std::int64_t centred = second[index](x, y) - w.m[c] * sum[d] - w.m[d] * sum[c] + n * w.m[c] * w.m[d];
        const float result = static_cast<float>(centred) - w.delta[c] * static_cast<float>(e[d]);
        return c == d ? result + flat : result;
      };
      if (channels == 1) {
        w.k11 = 1 / covariance(0, 0, 0);
      } else {
        invert(covariance(0, 0, 0), covariance(0, 1, 1), covariance(0, 2, 2), covariance(1, 1, 3), covariance(1, 2, 4),
               covariance(2, 2, 5), w);
      }
      windows.push_back(w);
    }
  return windows;
}

std::int64_t fixed(float value, float factor) { return static_cast<std::int64_t>(std::nearbyint(value * factor)); }

}  // namespace

void oracle(const Parameters& p, ImageView<const std::uint8_t> guide, VolumeView<const std::uint8_t> costs, Rows rows,
            VolumeView<float> filtered) {
  check_shapes(guide, costs, rows, filtered);
  const Size size = guide.size();
  const int channels = guide.channels;
  const FixedPoint factor = fixed_point(p, channels);
  const auto windows = windows_of(p, guide);
  const auto window = [&](int x, int y) -> const Window& {
    return windows[static_cast<std::size_t>(y) * size.width + x];
  };

  Image<std::int64_t> a[3] = {Image<std::int64_t>(size), Image<std::int64_t>(size), Image<std::int64_t>(size)}, b(size);
  for (int k = 0; k < costs.disparities; ++k) {
    Box sum_p(size, p.radius, [&](int x, int y) { return costs(x, y, k); });
    std::vector<Box> sum_ip;
    for (int c = 0; c < channels; ++c)
      sum_ip.emplace_back(size, p.radius, [&](int x, int y) { return (guide(x, y, c) - 128) * costs(x, y, k); });
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const Window& w = window(x, y);
        const float sum = static_cast<float>(sum_p(x, y));
        Vector v{};
        for (int c = 0; c < channels; ++c)
          v[c] = static_cast<float>(sum_ip[c](x, y) - w.m[c] * sum_p(x, y)) - w.delta[c] * sum;
        Vector slope{w.k11 * v[0], 0, 0};
        float offset = slope[0] * w.mu[0];
        if (channels == 3) {
          slope = {(w.k11 * v[0] + w.k12 * v[1]) + w.k13 * v[2], (w.k12 * v[0] + w.k22 * v[1]) + w.k23 * v[2],
                   (w.k13 * v[0] + w.k23 * v[1]) + w.k33 * v[2]};
          offset = (slope[0] * w.mu[0] + slope[1] * w.mu[1]) + slope[2] * w.mu[2];
        }
        for (int c = 0; c < channels; ++c) a[c](x, y) = fixed(slope[c], factor.a);
        b(x, y) = fixed(sum * w.share - offset, factor.b);
      }

    std::vector<Box> sum_a;
    for (int c = 0; c < channels; ++c) sum_a.emplace_back(size, p.radius, [&](int x, int y) { return a[c](x, y); });
    Box sum_b(size, p.radius, [&](int x, int y) { return b(x, y); });
    for (int y = rows.first; y < rows.last; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto term = [&](int c) {
          return static_cast<float>(sum_a[c](x, y)) * static_cast<float>(guide(x, y, c) - 128);
        };
        const float product = channels == 3 ? (term(0) + term(1)) + term(2) : term(0);
        filtered(x, y - rows.first, k) =
            (product * (1 / factor.a) + static_cast<float>(sum_b(x, y)) * (1 / factor.b)) * window(x, y).share;
      }
  }
}

}  // namespace stereopsis::guided
