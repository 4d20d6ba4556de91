#include "device/cpu/threads.hpp"
#include "stages/window_confidence/window_confidence.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/window_confidence/window_confidence_cpu.cpp"
#include <hwy/foreach_target.h>

#include <cmath>

#include "device/cpu/highway-inl.hpp"
#include "device/cpu/lanes-inl.hpp"
#include "stages/shared/window_sum_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::window_confidence::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using stereopsis::HWY_NAMESPACE::for_each_block;

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
    const bool wants_density = p_.measure == Measure::fd || p_.measure == Measure::msm_fd;
    for (int y = first; y < last; ++y) {
      if (wants_density) measure_densities(y, confidence_.row(y));
      for (int x = 0; x < disparity_.width; ++x) {
        const float d = disparity_(x, y), density = wants_density ? confidence_(x, y) : 1.0f;
        confidence_(x, y) = std::isnan(d) ? 0.0f : measured(x, y, static_cast<int>(std::floor(d + 0.5f)), density);
      }
    }
  }

 private:
  using D32 = hn::ScalableTag<std::uint32_t>;
  using V32 = hn::Vec<D32>;

  float measured(int x, int y, int d, float density) const {
    if (p_.measure == Measure::pkr) return pkr(x, y, d);
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

  void measure_densities(int y, float* out) const {
    for_each_block(
        D32(), window_.radius_x(), left_.width - window_.radius_x(),
        [&](int x) HWY_ATTR { store_densities(x, y, out + x); }, [&](int x) { out[x] = density(x, y); });
  }

  // Stores the densities of as many pixels as there are lanes. The windows of these pixels must lie inside the row.
  HWY_INLINE void store_densities(int x, int y, float* out) const {
    const D32 d32;
    const hn::RebindToFloat<D32> f32;
    const hn::RebindToSigned<D32> i32;
    const auto low_bytes = hn::Set(d32, 0xFF00FFu), low_half = hn::Set(d32, 0xFFFFu);
    V32 sum0 = hn::Zero(d32), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy) {
      V32 even = hn::Zero(d32), odd = even;  // sums over a row, each for two bytes
      for (int dx = -window_.radius_x(); dx <= window_.radius_x(); ++dx) {
        const auto words = words_at(x + dx, y + dy);
        even = hn::Add(even, hn::And(words, low_bytes));
        odd = hn::Add(odd, hn::And(hn::ShiftRight<8>(words), low_bytes));
      }
      sum0 = hn::Add(sum0, hn::And(even, low_half));
      sum1 = hn::Add(sum1, hn::And(odd, low_half));
      sum2 = hn::Add(sum2, hn::ShiftRight<16>(even));
      sum3 = hn::Add(sum3, hn::ShiftRight<16>(odd));
    }
    const auto count = hn::Set(f32, 2.0f * static_cast<float>(window_.area()));
    // ⌊(2 sum + N) / 2 N⌋; all values are below 2²⁴, so that no quotient is rounded up to the next integer.
    const auto mean = [&](V32 sum) HWY_ATTR {
      const auto doubled = hn::Add(hn::Add(sum, sum), hn::Set(d32, static_cast<std::uint32_t>(window_.area())));
      const auto wanted = hn::Div(hn::ConvertTo(f32, hn::BitCast(i32, doubled)), count);
      return hn::BitCast(d32, hn::ConvertTo(i32, wanted));
    };
    const auto means = hn::Or(hn::Or(mean(sum0), hn::ShiftLeft<8>(mean(sum1))),
                              hn::Or(hn::ShiftLeft<16>(mean(sum2)), hn::ShiftLeft<24>(mean(sum3))));
    V32 total = hn::Zero(d32);
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy) {
      V32 sums = hn::Zero(d32);  // sums of two bytes each
      for (int dx = -window_.radius_x(); dx <= window_.radius_x(); ++dx) {
        const auto difference = byte_differences(words_at(x + dx, y + dy), means);
        sums = hn::Add(sums, hn::And(difference, low_bytes));
        sums = hn::Add(sums, hn::And(hn::ShiftRight<8>(difference), low_bytes));
      }
      total = hn::Add(total, hn::Add(hn::And(sums, low_half), hn::ShiftRight<16>(sums)));
    }
    const auto whole = hn::Add(total, hn::Set(d32, 8u * static_cast<std::uint32_t>(window_.area())));
    hn::StoreU(hn::Div(hn::ConvertTo(f32, hn::BitCast(i32, total)), hn::ConvertTo(f32, hn::BitCast(i32, whole))), f32,
               out);
  }

  V32 words_at(int x, int y) const { return hn::LoadU(D32(), left_.row(std::clamp(y, 0, left_.height - 1)) + x); }

  static V32 byte_differences(V32 a, V32 b) {
    const hn::Repartition<std::uint8_t, D32> d8;
    const auto bytes_a = hn::BitCast(d8, a), bytes_b = hn::BitCast(d8, b);
    return hn::BitCast(D32(), hn::Or(hn::SaturatedSub(bytes_a, bytes_b), hn::SaturatedSub(bytes_b, bytes_a)));
  }

  float density(int x, int y) const {
    int sums[4] = {}, total = 0;
    for_each_byte(x, y, [&](int channel, int byte) { sums[channel] += byte; });
    for (int& sum : sums) sum = (2 * sum + window_.area()) / (2 * window_.area());
    for_each_byte(x, y, [&](int channel, int byte) { total += std::abs(byte - sums[channel]); });
    return quotient(total, total + 8 * window_.area());
  }

  // Calls f(channel, byte) for all pixels of the window.
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

}  // namespace stereopsis::window_confidence::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::window_confidence {

HWY_EXPORT(measure_rows);

void cpu(const Parameters& p, const window_sad::Window& window, const window_sad::Source<ImageView>& source,
         ImageView<const float> disparity, ImageView<float> confidence, Threads& threads) {
  threads.rows(disparity.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(measure_rows)(p, window, source, disparity, confidence, first, last);
  });
}

}  // namespace stereopsis::window_confidence
#endif
