
#include "stages/zncc/zncc.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::zncc {
namespace {

template <class T>
std::int16_t sample_of(T v, int bit_depth) {
  if constexpr (std::is_same_v<T, float>) {
    const float scaled = std::floor((v - 256.0f) * 64.0f + 0.5f);
    return static_cast<std::int16_t>(std::clamp(scaled, -32768.0f, 32767.0f));
  } else {
    return static_cast<std::int16_t>(std::min<int>(v, (1 << bit_depth) - 1) - (1 << (bit_depth - 1)));
  }
}

struct Offset {
  int x, y;
};

// Calls f(offset) for all pixels of a window.
template <class F>
void for_each_offset(const Parameters& p, F&& f) {
  for (int dy = -p.radius(); dy <= p.radius(); ++dy)
    for (int dx = -p.radius(); dx <= p.radius(); ++dx) f(Offset{dx, dy});
}

Window window_at(const Parameters& p, ImageView<const std::int16_t> samples, int x, int y) {
  std::int64_t sum = 0, squares = 0;
  for_each_offset(p, [&](Offset o) {
    const std::int64_t v = samples.clamped(x + o.x, y + o.y);
    sum += v;
    squares += v * v;
  });
  return window_of(sum, squares, p.pixels());
}

std::uint16_t cost_of(float correlation) {
  const float clamped = std::clamp(correlation, 0.0f, 1.0f);
  const int score = static_cast<int>(std::rint(clamped * 32768.0f));
  return score == 0 ? no_cost : static_cast<std::uint16_t>(32768 - score);
}

}  // namespace

Window window_of(std::int64_t sum, std::int64_t squares, int n) {
  Window w{static_cast<std::int32_t>(sum), 0.0f};
  if (n * squares == sum * sum) return w;
  const float one_over_n = 1.0f / static_cast<float>(n);
  const std::int64_t m = w.mean(one_over_n), e = sum - n * m;
  const float variance =
      static_cast<float>(squares - m * sum - m * e) - w.fraction(one_over_n, n) * static_cast<float>(e);
  w.inverse_root = 1.0f / std::sqrt(variance);
  return w;
}

template <class T>
void samples_oracle(ImageView<const T> grey, int bit_depth, ImageView<std::int16_t> samples) {
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) samples(x, y) = sample_of(grey(x, y), bit_depth);
}

template void samples_oracle(ImageView<const std::uint8_t>, int, ImageView<std::int16_t>);
template void samples_oracle(ImageView<const std::uint16_t>, int, ImageView<std::int16_t>);
template void samples_oracle(ImageView<const float>, int, ImageView<std::int16_t>);

void oracle(const Parameters& p, ImageView<const std::int16_t> left, ImageView<const std::int16_t> right,
            int min_disparity, VolumeView<std::uint16_t> costs) {
  const int n = p.pixels();
  const float one_over_n = 1.0f / static_cast<float>(n);
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x) {
      const Window l = window_at(p, left, x, y);
      for (int k = 0; k < costs.disparities; ++k) {
        const int x_right = x - min_disparity - k;
        const Window r = window_at(p, right, x_right, y);
        std::int64_t products = 0;
        for_each_offset(p, [&](Offset o) {
          products += static_cast<std::int64_t>(left.clamped(x + o.x, y + o.y)) * right.clamped(x_right + o.x, y + o.y);
        });
        const float centred = static_cast<float>(products - static_cast<std::int64_t>(l.mean(one_over_n)) * r.sum);
        const float covariance = centred - l.fraction(one_over_n, n) * static_cast<float>(r.sum);
        costs(x, y, k) = cost_of(covariance * l.inverse_root * r.inverse_root);
      }
    }
}

void mark_flat_oracle(const Parameters& p, ImageView<const std::int16_t> left, ImageView<std::uint8_t> validity) {
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x)
      if (validity(x, y) == validity::no_candidate && window_at(p, left, x, y).inverse_root == 0)
        validity(x, y) = validity::ambiguous;
}

}  // namespace stereopsis::zncc
